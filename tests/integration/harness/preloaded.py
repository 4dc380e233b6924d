# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Functions of libc that a test replaces in httpd."""
import os
import subprocess

from harness.httpd import Httpd


def preload(httpd: Httpd, source: str) -> None:
    """Compile this C source, and start httpd with it."""
    library = httpd.dir / "preloaded.so"
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-x", "c",
                    "-o", library, "-"], input=source.encode(), check=True)
    httpd.wrapper = ["sh", "-c", 'LD_PRELOAD="$LD_PRELOAD $0" exec "$@"',
                     str(library)]
