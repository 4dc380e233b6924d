# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Another module may leave a request without the name of a file. Then there is
nothing to look up or to guard, and the request goes its way."""
import pytest

from harness.cases import cases
from harness.compiled import put_built
from harness.httpd import Httpd
from harness.places import apxs

pytestmark = pytest.mark.one_mpm("a file is chosen before the MPM sends it")


def test_without_a_file_name(httpd: Httpd) -> None:
    module = httpd.dir / "nameless.so"
    put_built(module, "nameless.c", "-shared", "-fPIC", "-D_GNU_SOURCE",
              f"-I{apxs('INCLUDEDIR')}", f"-I{apxs('APR_INCLUDEDIR')}")
    httpd.directives += [
        f"LoadModule nameless_module {module}",
        f"<VirtualHost *:{httpd.port}>", "ServerName plain",
        f'DocumentRoot "{httpd.dir}/plain"', "</VirtualHost>"]
    by_http = httpd.app("http")
    by_fcgi = httpd.app("fcgi", "AppProtocol fcgi",
                        f"AppSetEnv SEEN {httpd.dir}/hold/seen",
                        program="fcgi.py")
    for public in (by_http.public, by_fcgi.public, httpd.dir / "plain"):
        public.mkdir(exist_ok=True)
        (public / "style.css").write_text("a file")
    httpd.log.expect("AH00132: file permissions deny server access")
    httpd.start()
    refused = httpd.get("/style.css?dropped", "plain").status
    for (name, path, want), case in cases(
            (name, path, want) for name in ("http", "fcgi")
            for path, want in (("/style.css", 200), ("/x?never", 200),
                               ("/style.css?never", 200),
                               ("/style.css?dropped", refused))):
        with case:
            assert httpd.get(path, name).status == want
