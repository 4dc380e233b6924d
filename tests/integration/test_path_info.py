# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What PHP sees of a path that .htaccess has rewritten. The values are those of
php-fpm 8.2.36 of Debian 12 behind mod_proxy_fcgi of httpd 2.4.71, by SetHandler
"proxy:unix:...|fcgi://localhost", recorded with the same files."""
import json
import subprocess

import pytest

from harness.cases import cases
from harness.httpd import USER, Httpd

pytestmark = pytest.mark.mpms("event")

SHOW = "<?php header('Content-Type: application/json');" \
    " echo json_encode($_SERVER);"
NO_FILE = "RewriteCond %{REQUEST_FILENAME} !-f\n"
# .htaccess of a directory, the request below it, and: the script, PATH_INFO,
# QUERY_STRING.
FORMS = {
    "no rule": ("", "index.php/foo/b%C3%A4r?x=1", "index.php", "/foo/b\u00e4r",
                "x=1"),
    "ThinkPHP": (NO_FILE + "RewriteRule ^(.*)$ index.php/$1 [QSA,PT,L]",
                 "foo/bar?x=1", "index.php", "/foo/bar", "x=1"),
    "ExpressionEngine": (NO_FILE + "RewriteRule ^(.*)$ /@/index.php/$1 [L]",
                         "foo/b%20r?x=1", "index.php", "/foo/b r", "x=1"),
    "CodeIgniter": ("RewriteCond $1 !^(index\\.php)\n"
                    "RewriteRule ^(.*)$ ./index.php/$1 [L]",
                    "f%C3%A4/b%2Br+x", "index.php", "/f\u00e4/b+r+x", ""),
    "its front page": ("RewriteCond $1 !^(index\\.php)\n"
                       "RewriteRule ^(.*)$ ./index.php/$1 [L]",
                       "", "index.php", "/", ""),
    "END": (NO_FILE + "RewriteRule ^(.*)$ index.php/$1 [END]", "foo/bar",
            "index.php", "/foo/bar", ""),
    "a variable": (NO_FILE + "RewriteRule ^(.*)$ index.php/$1 [E=BASE:/x,L]",
                   "foo/bar", "index.php", "/foo/bar", ""),
    "another script": ("RewriteRule ^api/(.*)$ sub/x.php/$1 [L]",
                       "api/v1/users?x=1", "sub/x.php", "/v1/users", "x=1"),
    "a suffix": (r"RewriteRule ^(.*)\.html$ sub/x.php/$1 [L]", "a/b.html",
                 "sub/x.php", "/a/b", ""),
    "ErrorDocument": ("ErrorDocument 404 /@/index.php/missing\n"
                      "RewriteRule ^gone - [R=404,L]", "gone", "index.php",
                      "/missing", ""),
    "Laravel": (NO_FILE + "RewriteRule ^ index.php [L]", "foo/bar?x=1",
                "index.php", None, "x=1"),
    "a query": (NO_FILE + "RewriteRule ^(.*)$ index.php?s=$1 [QSA,L]",
                "foo/bar?x=1", "index.php", None, "s=foo/bar&x=1"),
    "FallbackResource": ("FallbackResource /@/index.php", "foo/bar?x=1",
                         "index.php", None, "x=1"),
}


def test_rewritten_paths(httpd: Httpd) -> None:
    httpd.modules.append("rewrite")
    httpd.directives.append(f'<Directory "{httpd.dir}">\nAllowOverride All\n'
                            "Options FollowSymLinks\n</Directory>")
    app = httpd.app("shop", "AppProtocol fcgi", command="php-cgi")
    for n, (htaccess, *_) in enumerate(FORMS.values()):
        place = app.public / f"f{n}"
        (place / "sub").mkdir(parents=True)
        for script in ("index.php", "sub/x.php"):
            (place / script).write_text(SHOW)
        (place / ".htaccess").write_text(
            ("RewriteEngine On\n" + htaccess).replace("@", f"f{n}") + "\n")
    subprocess.run(["chown", "-R", USER, app.public], check=True)
    httpd.start()
    for n, (name, case) in enumerate(cases(FORMS)):
        _, path, script, info, query = FORMS[name]
        with case:
            seen = json.loads(httpd.get(f"/f{n}/{path}", "shop").text)
            assert seen["SCRIPT_NAME"] == f"/f{n}/{script}"
            assert seen["SCRIPT_FILENAME"] == f"{app.public}/f{n}/{script}"
            assert seen.get("PATH_INFO") == info
            assert seen["PHP_SELF"] == f"/f{n}/{script}{info or ''}"
            assert seen["REQUEST_URI"] == f"/f{n}/{path}"
            assert seen["QUERY_STRING"] == query
            assert "ORIG_PATH_INFO" not in seen
            if name in ("Laravel", "a query"):
                assert seen["REDIRECT_URL"] == f"/f{n}/foo/bar"
