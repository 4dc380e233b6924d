# Licensed under the Apache License, Version 2.0; see LICENSE.
"""httpd with a PHP of its own beside the applications: mod_php or php-fpm, as
Debian's packages configure them. mod_php is a module of that name
(apps/mod_php.c), and php-fpm is php-cgi at a socket: both say who runs a
script."""
import os
import shutil
import socket
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

from harness.compiled import put_built
from harness.httpd import Httpd
from harness.places import apxs

OWNER = "games"  # of the application; mod_php and php-fpm are www-data
SOURCE = ("<?php echo 'run by ', posix_getpwuid(posix_geteuid())['name'], ' ',"
          " basename(__FILE__);")

# libapache2-mod-php8.2 of Debian 12, mods-available/php8.2.conf. The directory of
# users is another one. packages_php_beside.py compares it with the package.
MOD_PHP = r"""
<FilesMatch ".+\.ph(?:ar|p|tml)$">
    SetHandler application/x-httpd-php
</FilesMatch>
<FilesMatch ".+\.phps$">
    SetHandler application/x-httpd-php-source
    Require all denied
</FilesMatch>
<FilesMatch "^\.ph(?:ar|p|ps|tml)$">
    Require all denied
</FilesMatch>
<IfModule mod_userdir.c>
    <Directory @home@/*/public_html>
        php_admin_flag engine Off
    </Directory>
</IfModule>
"""

# php8.2-fpm of Debian 12, conf-available/php8.2-fpm.conf. The socket is another
# one. packages_php_beside.py compares it with the package.
FPM = r"""
<IfModule !mod_php8.c>
<IfModule proxy_fcgi_module>
    <IfModule setenvif_module>
    SetEnvIfNoCase ^Authorization$ "(.+)" HTTP_AUTHORIZATION=$1
    </IfModule>
    <FilesMatch ".+\.ph(?:ar|p|tml)$">
        SetHandler "proxy:unix:@socket@|fcgi://localhost"
    </FilesMatch>
    <FilesMatch ".+\.phps$">
        Require all denied
    </FilesMatch>
    <FilesMatch "^\.ph(?:ar|p|ps|tml)$">
        Require all denied
    </FilesMatch>
</IfModule>
</IfModule>
"""

# How each of them says that it has run a script.
BY_MOD_PHP = "run by mod_php"
BY_FPM = "run by www-data"
BY_POOL = f"run by {OWNER}"


def load_mod_php(httpd: Httpd) -> None:
    file = httpd.dir / "mod_php.so"
    put_built(file, "mod_php.c", "-shared", "-fPIC", "-D_GNU_SOURCE",
              f"-I{apxs('INCLUDEDIR')}", f"-I{apxs('APR_INCLUDEDIR')}")
    httpd.modules.append("userdir")
    httpd.directives += [f"LoadModule php_module {file}",
                         MOD_PHP.replace("@home@", f"{httpd.dir}/home")]


@contextmanager
def fpm(httpd: Httpd) -> Iterator[None]:
    """php-fpm runs, and its configuration is there."""
    place = httpd.dir / "hold" / "fpm"
    httpd.modules += ["proxy_fcgi", "setenvif"]
    httpd.directives += [FPM.replace("@socket@", str(place)),
                         "ProxyFCGIBackendType GENERIC"]  # it is php-cgi
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(place))
        os.chmod(place, 0o777)
        server.listen()
        fpm = subprocess.Popen(["/usr/bin/php-cgi"], stdin=server,
                               user="www-data", group="www-data",
                               extra_groups=[], env={})
        try:
            yield
        finally:
            fpm.kill()
            fpm.wait()
            place.unlink()


def put(place: Path, name: str = "x.php", htaccess: str = "") -> Path:
    """A script, a plain file beside it, and an .htaccess."""
    place.mkdir(parents=True, exist_ok=True)
    (place / name).write_text(SOURCE)
    (place / "plain.txt").write_text("a file")
    if htaccess:
        (place / ".htaccess").write_text(htaccess + "\n")
    for path in (place, *place.iterdir()):
        shutil.chown(path, OWNER, OWNER)
    return place
