# Licensed under the Apache License, Version 2.0; see LICENSE.
"""PHP scripts: which ones are run, and as which user. No source is sent."""
import os
import pwd
import shutil
from pathlib import Path

import pytest

from harness.httpd import USER, Httpd

pytestmark = pytest.mark.mpms("event")

SOURCE = ("<?php echo 'run by ', posix_getpwuid(posix_geteuid())['name'], ' ',"
          " basename(__FILE__);")
NEIGHBOUR = "games"  # a user of its own


def write(place: Path, name: str = "x.php", owner: str = NEIGHBOUR) -> Path:
    """A script, and a plain file beside it."""
    place.mkdir(parents=True, exist_ok=True)
    for file, text in ((name, SOURCE), ("plain.txt", "a file")):
        (place / file).write_text(text)
        shutil.chown(place / file, owner)
    return place


def start(httpd: Httpd, *directives: str, location: str = "") -> None:
    httpd.modules += ["alias", "userdir", "rewrite"]
    httpd.directives.append(f'<Directory "{httpd.dir}">\n'
                            "Options FollowSymLinks\n</Directory>")
    root = httpd.dir / "shop"
    write(root / "public", owner=USER)
    (root / "index.php").write_text("<?php echo 'the front page';")
    httpd.app("shop", "AppProtocol fcgi", *directives, command=None,
              location=location or None, root=root)
    httpd.start()


def refused(httpd: Httpd, path: str) -> None:
    """The script is not run, and its source is not sent."""
    for more in ("", "/and/more", "?x=1"):
        response = httpd.get(path + more, "shop")
        assert (response.status, "php" in response.text) == (403, False)
    assert httpd.post(path, "shop", "x=1").status == 403
    httpd.log.expect("is not run by shop: it is neither below")


@pytest.mark.parametrize("name", ["x.php", "x.phtml", "x.phar", "X.PHP",
                                  "x.y.Phtml"])
def test_own_scripts(httpd: Httpd, name: str) -> None:
    """By all their names. The path behind a name goes to the script."""
    write(httpd.dir / "shop/public/sub", name, USER)
    start(httpd)
    for more in ("", "/and/more", "?x=1"):
        response = httpd.get(f"/sub/{name}{more}", "shop")
        assert response.text == f"run by {USER} {name}"
    assert httpd.get("/sub/plain.txt", "shop").text == "a file"
    assert httpd.get("/sub/none", "shop").text == "the front page"


@pytest.mark.parametrize("name", ["x.php", "x.phtml", "x.phar"])
def test_scripts_of_a_user(httpd: Httpd, name: str) -> None:
    """Their owner is not the user of the app. httpd serves their other
    files."""
    write(httpd.dir / "home/eve", name)
    start(httpd, f'UserDir "{httpd.dir}/home"')
    refused(httpd, f"/~eve/{name}")
    assert httpd.get("/~eve/plain.txt", "shop").text == "a file"


def test_users_below_document_root(httpd: Httpd) -> None:
    """Files of users below DocumentRoot belong to these users as well."""
    write(httpd.dir / "shop/public/users/eve")
    start(httpd, f'UserDir "{httpd.dir}/shop/public/users"')
    refused(httpd, "/~eve/x.php")
    # By its own URL it is a file of the app, because the app made that
    # directory.
    assert httpd.get("/users/eve/x.php", "shop").status == 200


def test_scripts_of_an_alias(httpd: Httpd) -> None:
    write(httpd.dir / "tools")
    write(httpd.dir / "shop/public-not", owner=USER)
    start(httpd, f'Alias "/tools" "{httpd.dir}/tools"',
          f'AliasMatch "^/any/(.*)" "{httpd.dir}/tools/$1"',
          'RewriteEngine On',
          f'RewriteRule "^/rewritten/(.*)" "{httpd.dir}/tools/$1"',
          f'Alias "/extra" "{httpd.dir}/shop/public-not"',
          f'Alias "/docs" "{httpd.dir}/shop/public"')
    for path in ("/tools", "/any", "/rewritten"):
        refused(httpd, f"{path}/x.php")
        assert httpd.get(f"{path}/plain.txt", "shop").text == "a file"
    # Below AppRoot, and below DocumentRoot by another name.
    for path in ("/extra", "/docs"):
        assert httpd.get(f"{path}/x.php", "shop").text == f"run by {USER} x.php"


def test_alias_of_the_mount(httpd: Httpd) -> None:
    """An Alias of the mount itself belongs to the app. An Alias below the
    mount does not."""
    write(httpd.dir / "elsewhere", owner=USER)
    write(httpd.dir / "tools")
    start(httpd, location="/mnt")
    assert httpd.get("/mnt/x.php").status == 404
    httpd.directives += [f'Alias "/mnt/tools" "{httpd.dir}/tools"',
                         f'Alias "/mnt" "{httpd.dir}/elsewhere"']
    httpd.graceful()
    assert httpd.get("/mnt/x.php").text == f"run by {USER} x.php"
    refused(httpd, "/mnt/tools/x.php")


def test_another_server_of_php_beside_it(httpd: Httpd) -> None:
    """A handler that was configured for the scripts of other users runs
    them."""
    httpd.modules += ["cgi"]
    write(httpd.dir / "tools")
    script = httpd.dir / "tools/x.php"
    script.write_text("#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\ncgi'\n")
    script.chmod(0o755)
    start(httpd, f'Alias "/tools" "{httpd.dir}/tools"',
          f'<Directory "{httpd.dir}/tools">', "Options +ExecCGI",
          "SetHandler cgi-script", "</Directory>")
    assert httpd.get("/tools/x.php", "shop").text == "cgi"


@pytest.mark.parametrize("option, foreign", [("FollowSymLinks", 200),
                                             ("SymLinksIfOwnerMatch", 403)])
def test_links(httpd: Httpd, option: str, foreign: int) -> None:
    """A link that httpd follows counts as below DocumentRoot, by its name."""
    httpd.log.expect("AH00037")  # a link that is not followed
    public = httpd.dir / "shop/public"
    public.mkdir(parents=True)
    for name, owner in (("release", USER), ("tools", NEIGHBOUR)):
        shutil.chown(write(httpd.dir / name, owner=owner), owner)
        (public / name).symlink_to(httpd.dir / name)
        os.lchown(public / name, pwd.getpwnam(USER).pw_uid, -1)
    start(httpd, f'<Directory "{public}">', f"Options {option}",
          "</Directory>")
    assert httpd.get("/release/x.php", "shop").text == f"run by {USER} x.php"
    assert httpd.get("/tools/x.php", "shop").status == foreign
