# Licensed under the Apache License, Version 2.0; see LICENSE.
"""apppoolctl as another user."""
import subprocess

from harness.httpd import Httpd
from harness.places import CTL


def as_user(httpd: Httpd, user: str, *words: str
            ) -> subprocess.CompletedProcess[str]:
    """apppoolctl, run by this user for the pool of this httpd."""
    return subprocess.run(
        ["setpriv", f"--reuid={user}", "--regid=nogroup", "--clear-groups",
         str(CTL), "--dir", str(httpd.runtime), *words], text=True,
        capture_output=True, timeout=60)
