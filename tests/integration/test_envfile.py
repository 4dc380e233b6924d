# Licensed under the Apache License, Version 2.0; see LICENSE.
"""AppEnvFile: secrets of an application in a file that may belong to root."""
import os
import shutil
from pathlib import Path

import pytest

from harness import sentences
from harness.cases import cases
from harness.config import App
from harness.httpd import Httpd

pytestmark = pytest.mark.mpms("event")

OWNER, NEIGHBOUR = "games", "news"


def secret(path: Path, text: str, owner: str = "root",
           mode: int = 0o600) -> Path:
    path.write_text(text)
    shutil.chown(path, owner)
    path.chmod(mode)
    return path


def shop(httpd: Httpd, file: Path, *directives: str,
         name: str = "shop") -> App:
    return httpd.app(name, f'AppEnvFile "{file}"', f"AppUser {OWNER}",
                     *directives)


def environment(httpd: Httpd) -> dict[str, str]:
    response = httpd.get("/process", "shop")
    assert response.status == 200, response.body
    return response.json()["environment"]


def start(httpd: Httpd) -> None:
    """Start httpd with apps that do not start."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    httpd.start()


def does_not_start(httpd: Httpd, why: str, name: str = "shop") -> None:
    """The log has this sentence."""
    assert httpd.get("/pid", name).status == 503
    httpd.log.wait_for(rf"{name}\[\d+\] could not be started: {why}")
    text = "".join(httpd.log.lines())
    assert "hunter2" not in text and "toor" not in text


def fails(httpd: Httpd, why: str) -> None:
    start(httpd)
    does_not_start(httpd, why)


def test_file_of_root(httpd: Httpd) -> None:
    """Mode 0600: the app gets the variables, and cannot read the file.
    AppSetEnv overrides them, and our own variables cannot be set."""
    file = secret(httpd.dir / "shop.env",
                  "# of the shop\nPASSWORD='hunter2 #1'\nexport TWICE=a\n"
                  "TWICE=b\nSET=file\nHOME=/elsewhere\n")
    shop(httpd, file, "AppSetEnv SET directive")
    httpd.start()
    got = environment(httpd)
    assert (got["PASSWORD"], got["TWICE"]) == ("hunter2 #1", "b")
    assert (got["SET"], got["HOME"]) == ("directive", "/elsewhere")
    assert got["APPPOOL_ID"] and got["LISTEN_FDS"] == "1"


def test_change_counts_at_the_next_start(httpd: Httpd) -> None:
    file = secret(httpd.dir / "shop.env", "A=1\n")
    shop(httpd, file)
    httpd.start()
    assert environment(httpd)["A"] == "1"
    secret(file, "A=2\n")
    assert environment(httpd)["A"] == "1"
    httpd.graceful()
    assert environment(httpd)["A"] == "1"
    done = httpd.ctl("restart", "shop", "--wait")
    assert done.returncode == 0, done.stderr
    assert environment(httpd)["A"] == "2"


def test_another_file_is_another_app(httpd: Httpd) -> None:
    """Its processes are replaced, as with AppSetEnv."""
    one = secret(httpd.dir / "one.env", "A=1\n")
    app = shop(httpd, one)
    httpd.start()
    assert environment(httpd)["A"] == "1"
    two = secret(httpd.dir / "two.env", "A=2\n")
    app.directives[0] = f'AppEnvFile "{two}"'
    httpd.graceful()
    done = httpd.ctl("restart", "shop", "--wait")
    assert done.returncode == 0, done.stderr
    assert environment(httpd)["A"] == "2"


def test_file_of_the_apps_user(httpd: Httpd) -> None:
    """A link to the file works as well, because the user may read the file
    anyway."""
    file = secret(httpd.dir / "real.env", "A=1\n", OWNER)
    link = httpd.dir / "link.env"
    link.symlink_to(file)
    shop(httpd, link)
    httpd.start()
    assert environment(httpd)["A"] == "1"


def test_wrong_line(httpd: Httpd) -> None:
    """The error has the file and the line number, and nothing from that
    line."""
    file = secret(httpd.dir / "shop.env", "A=1\nPASSWORD='hunter2\n")
    shop(httpd, file)
    fails(httpd, rf"AppEnvFile {file}: line 2, PASSWORD: the quote")


def test_no_file(httpd: Httpd) -> None:
    file = httpd.dir / "missing.env"
    shop(httpd, file)
    fails(httpd, f"AppEnvFile {file} cannot be opened: No such file")


OPEN_FILES = [
    (NEIGHBOUR, 0o644, r"belongs to user \d+: it has to belong to root or to "
     f"user {OWNER}"),
    (NEIGHBOUR, 0o600, "may not be read by user|belongs to user"),
    ("root", 0o602, "may be written by others"),
    ("root", 0o664, "may be written by others"),
    (OWNER, 0o666, "may be written by others"),
    (OWNER, 0o000, f"may not be read by its own user, {OWNER}")]


def test_file_that_others_may_write(httpd: Httpd) -> None:
    files = [secret(httpd.dir / f"{n}.env", "PASSWORD=hunter2\n", owner, mode)
             for n, (owner, mode, _) in enumerate(OPEN_FILES)]
    for n, file in enumerate(files):
        shop(httpd, file, name=f"shop{n}")
    start(httpd)
    for (n, (_, _, why)), case in cases(enumerate(OPEN_FILES)):
        with case:
            does_not_start(httpd, f"AppEnvFile {files[n]} ({why})", f"shop{n}")


@pytest.mark.parametrize("keeper,owner", [
    (OWNER, "root"), (NEIGHBOUR, "root"), (NEIGHBOUR, OWNER)])
def test_directory_of_others(httpd: Httpd, keeper: str, owner: str) -> None:
    """A user that may rename files in it can give any file of the same owner
    this name."""
    place = httpd.dir / "place"
    place.mkdir()
    shutil.chown(place, keeper)
    file = secret(place / "shop.env", "PASSWORD=hunter2\n", owner)
    shop(httpd, file)
    fails(httpd, f"AppEnvFile {file} is in a directory where others than "
                 "root.* may put another file")


@pytest.mark.parametrize("trick", ["link", "directory", "hard link", "fifo",
                                   "device"])
def test_tricks_of_a_tenant(httpd: Httpd, trick: str) -> None:
    """A tenant owns the directory, and wants a file of root's in the
    environment."""
    target = secret(httpd.dir / "roots.env", "ROOT=toor\n")
    inside = httpd.dir / "roots"
    inside.mkdir(mode=0o700)
    secret(inside / "shop.env", "ROOT=toor\n")
    own = httpd.dir / "own"
    own.mkdir()
    file = own / "shop.env"
    if trick == "link":
        file.symlink_to(target)
    elif trick == "directory":
        (own / "d").symlink_to(inside)
        file = own / "d" / "shop.env"
    elif trick == "hard link":
        os.link(target, file)
    elif trick == "fifo":
        os.mkfifo(file, 0o600)
        shutil.chown(file, OWNER)
    else:
        file.symlink_to("/dev/zero")
    os.lchown(own, shutil._get_uid(OWNER), -1)
    shop(httpd, file, "AppStartTimeout 10s")
    fails(httpd, f"AppEnvFile {file} (cannot be read by user {OWNER}, and "
          "root reads it only if|is not a plain file)")
    file.unlink()


def test_one_name_with_two_files(httpd: Httpd) -> None:
    """Another file is another application"""
    for name in ("one", "two"):
        httpd.app(name, "AppGroupName shop", f"AppEnvFile /etc/{name}",
                  root=httpd.dir / "shop")
    done = httpd.test()
    assert done.returncode != 0
    assert "do not have the same AppEnvFile" in done.stdout
