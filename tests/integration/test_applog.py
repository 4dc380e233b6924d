# Licensed under the Apache License, Version 2.0; see LICENSE.
"""With AppLog, the output of an app goes to a file. Without AppLog, it goes to
the error log of the virtual host."""
import json
import os
import re
import shutil
import socket
from pathlib import Path

import pytest

from harness import procs, sentences
from harness.errorlog import KILLED
from harness.httpd import Httpd
from harness.logs import come, has, prints, script
from harness.procs import kill9
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")


def first_says(httpd: Httpd, text: str) -> Path:
    """An app that prints this and then serves requests."""
    (httpd.dir / "said").write_text(text + "\n")
    return script(httpd.dir / "app.sh",
                  f"cat {httpd.dir}/said; exec {httpd.command}")


# ---- AppLogFormat

def test_raw(httpd: Httpd) -> None:
    """JSON stays the same JSON, byte by byte."""
    file = httpd.dir / "shop.log"
    printed = {"level": "info", "text": "a \t tab, \u00fc and \\x1b"}
    httpd.app("shop", f"AppLog {file}", "AppLogFormat raw",
              command=str(first_says(httpd, json.dumps(printed) + "\n\x1b[0m")))
    httpd.start()
    assert httpd.get("/pid", "shop").status == 200
    come(file, r"\033\[0m")
    assert json.loads(file.read_text().splitlines()[0]) == printed


@pytest.mark.parametrize("log", ["{}", "|$cat >>{}"])
def test_raw_lines_that_are_long(httpd: Httpd, log: str) -> None:
    """A stack trace in JSON stays whole. A line longer than a message between
    two programs is cut, and says so."""
    file = httpd.dir / "shop.log"
    printed = [json.dumps({"trace": "x" * 60000}), "y" * 70000, "end"]
    httpd.app("shop", f'AppLog "{log.format(file)}"', "AppLogFormat raw",
              command=str(first_says(httpd, "\n".join(printed))))
    httpd.start()
    assert httpd.get("/pid", "shop").status == 200
    come(file, "^end$")
    first, second, _ = file.read_text().splitlines()
    assert first == printed[0]
    cut = re.fullmatch(r"(y{65000,}) \[\.\.\. (\d+) bytes left out\]", second)
    assert cut and len(cut[1]) + int(cut[2]) == 70000
    assert len(second) < 65536


def test_long_lines(httpd: Httpd) -> None:
    """Long lines in an error log."""
    httpd.app("shop", command=str(first_says(
        httpd, "x" * 8192 + "\n" + "y" * 9000 + "\nend")))
    httpd.start()
    assert httpd.get("/pid", "shop").status == 200
    httpd.log.wait_for(r"> end$")
    assert httpd.log.matching(r"> x{8192}$")
    assert httpd.log.matching(r"> y{8192} \[\.\.\. 808 bytes left out\]$")


def test_raw_log_that_cannot_be_opened(httpd: Httpd) -> None:
    """The lines go to the error log. There, a line has its time, and control
    characters have no effect."""
    httpd.log.expect(sentences.APPLOG_CLOSED)
    file = httpd.dir / "missing" / "shop.log"
    httpd.app("shop", f"AppLog {file}", "AppLogFormat raw",
              command=str(first_says(httpd, "hello \x1b[0m")))
    httpd.start()
    assert httpd.get("/pid", "shop").status == 200
    httpd.log.wait_for(rf"AppLog {file} cannot be opened")
    httpd.log.wait_for(rf"apppool: AppLog {file}> hello \\x1b\[0m$")


def test_disk_is_full(httpd: Httpd) -> None:
    """The error log says how many lines are missing."""
    httpd.log.expect(sentences.LINES_LOST)
    httpd.app("shop", "AppLog /dev/full")
    httpd.start()
    prints(httpd, "hello")
    httpd.log.wait_for("apppool: AppLog /dev/full: \\d+ lines dropped: No space "
                       "left on device$")


def test_raw_without_a_log(httpd: Httpd) -> None:
    httpd.app("shop", "AppLogFormat raw")
    done = httpd.test()
    assert done.returncode == 0
    assert "AppLogFormat raw" in done.stdout and "no effect" in done.stdout


@pytest.mark.parametrize("value,says", [
    ('AppLog ""', "one argument"), ('AppLog "|"', "is not a | and a command"),
    ('AppLog "||$ "', "is not a | and a command"), ("AppLogFormat json", "prefixed raw")])
def test_bad_values(httpd: Httpd, value: str, says: str) -> None:
    httpd.app("shop", value)
    done = httpd.test()
    assert done.returncode != 0 and says in done.stdout, done.stdout


# ---- the error log of the virtual host

def comes_after_a_reload(httpd: Httpd, text: str, file: Path) -> None:
    """Until the spawner has the new table, the main log gets the lines."""
    def is_there() -> bool:
        prints(httpd, text)
        return has(file, f"> {text}$")

    wait_until(is_there, f"{text} is in {file.name}")


def test_file_of_the_virtual_host(httpd: Httpd) -> None:
    """Lines go to its error log and not to the main log. The file is rotated
    with httpd."""
    httpd.log.expect(r"spawner \d+ ended")
    file, old = httpd.dir / "vhost.log", httpd.dir / "vhost.log.1"
    httpd.app("shop", f"ErrorLog {file}")
    httpd.app("blog")
    httpd.start()
    prints(httpd, "hello")
    assert httpd.get("/print?text=of-blog", "blog").status == 200
    come(file, r"\[apppool:info\] \[pid \d+\] apppool: shop\[\d+\]> hello$", 2)
    httpd.log.wait_for(r"blog\[\d+\]> of-blog")
    assert not httpd.log.matching("> hello") and not has(file, "of-blog")
    file.rename(old)
    prints(httpd, "before")  # httpd still has that file open
    come(old, "> before$", 2)
    httpd.graceful()
    comes_after_a_reload(httpd, "after", file)
    assert not has(old, "> after$")
    before = httpd.helper("spawner")
    kill9(before)
    wait_until(lambda: httpd.spawner_now() not in (0, before), "another one")
    prints(httpd, "adopted")
    come(file, "> adopted$")


def test_names_that_are_no_text(httpd: Httpd) -> None:
    """A file of httpd may have any name, also that of its configuration. The
    apps run, and their lines come."""
    main, own = httpd.dir / "main.conf", httpd.dir / "own.conf"
    place = os.fsencode(httpd.dir)
    main.write_bytes(b'ErrorLog "%s/main-\xe9\x01.log"\n' % place)
    own.write_bytes(b'ErrorLog "%s/own-\xe9\x01.log"\n' % place)
    os.symlink(place + b"/main-\xe9\x01.log", httpd.log.path)
    os.symlink(place + b"/own-\xe9\x01.log", httpd.dir / "own.log")
    apart = httpd.dir / os.fsdecode(b"apart-\xe9.conf")
    apart.write_text("AppConcurrency 2\n")
    httpd.directives.append(f"Include {main}")
    httpd.app("shop", f"Include {own}", f'Include "{httpd.dir}/apart-*.conf"')
    httpd.app("blog")
    httpd.start()
    prints(httpd, "hello")
    come(httpd.dir / "own.log", "> hello$")
    assert httpd.get("/print?text=of-blog", "blog").status == 200
    httpd.log.wait_for(r"blog\[\d+\]> of-blog")


def test_tag_that_is_no_text(httpd: Httpd) -> None:
    """Of syslog. Whatever becomes of the lines, the app runs."""
    own = httpd.dir / "own.conf"
    own.write_bytes(b'ErrorLog "syslog:local3:shop-\xe9\x01"\n')
    httpd.app("shop", f"Include {own}")
    httpd.start()
    assert httpd.get("/pid", "shop").status == 200


def test_pipe_of_the_virtual_host(httpd: Httpd) -> None:
    file = httpd.dir / "vhost.log"
    httpd.app("shop", f'ErrorLog "|$cat >>{file}"')
    httpd.start()
    prints(httpd, "hello")
    come(file, r"apppool: shop\[\d+\]> hello$", 2)
    httpd.graceful()
    comes_after_a_reload(httpd, "again", file)
    prints(httpd, "more")
    come(file, r"apppool: shop\[\d+\]> more$", 2)
    assert not httpd.log.matching("> (hello|more)")


def test_syslog_of_the_virtual_host(httpd: Httpd) -> None:
    """With the facility and the tag that ErrorLog names, and without a
    time."""
    path = httpd.dir / "log.sock"
    server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    server.bind(str(path))
    server.settimeout(40)
    # A /dev of its own, with this socket as /dev/log.
    httpd.wrapper = [
        "unshare", "--mount", "--propagation", "private", "sh", "-c",
        f"d={httpd.dir}/dev; mkdir $d && mount -t tmpfs none $d && "
        "for f in null zero full random urandom; do touch $d/$f && "
        "mount --bind /dev/$f $d/$f || exit 1; done; mkdir $d/shm && "
        f"ln -s /proc/self/fd $d/fd && ln -s {path} $d/log && "
        # The test's own files may be in /dev/shm.
        f"mount --rbind {httpd.dir} /mnt && mount --rbind $d /dev && "
        f"mkdir -p {httpd.dir} && mount --rbind /mnt {httpd.dir} && "
        'exec "$@"', "sh"]
    httpd.app("shop", "ErrorLog syslog:local3:shop-tag")
    httpd.start()
    try:
        prints(httpd, "hello")
        printed = b""
        while b"> hello" not in printed:
            printed = server.recv(4096)
        local3_error, local3_info = 19 * 8 + 3, 19 * 8 + 6
        assert re.match(rb"<%d>.* shop-tag: \[apppool:info\] \[pid \d+\] "
                        rb"apppool: shop\[\d+\]> hello$" % local3_info, printed), \
            printed
        httpd.log.expect(*KILLED)
        kill9(int(httpd.get("/pid", "shop").text))
        while b"] died: " not in printed:
            printed = server.recv(4096)
        assert re.match(rb"<%d>.* shop-tag: \[apppool:error\] " % local3_error,
                        printed), printed
    finally:
        httpd.stop()
        server.close()
        path.unlink()


@pytest.mark.parametrize("name", ["error.log", "./error.log"])
def test_same_log_as_the_main_server(httpd: Httpd, name: str) -> None:
    """Also if it has another name. No child writes the log, and each line is
    there once."""
    httpd.app("shop", f"ErrorLog {name}")
    httpd.start()
    prints(httpd, "hello")
    httpd.log.wait_for(r"shop\[\d+\]> hello", 2)
    assert len(httpd.log.matching(r"shop\[\d+\] ready")) == 1
    assert not [pid for pid in procs.marked(str(httpd.dir))
                if procs.command(pid).startswith("apppool-log ")]


def test_descriptor_is_another_file_by_now(httpd: Httpd) -> None:
    """httpd was killed, or has not passed on the change yet. The main log gets
    the lines."""
    file = httpd.dir / "vhost.log"
    httpd.app("shop", f"ErrorLog {file}")
    httpd.start()
    prints(httpd, "hello")
    come(file, "> hello$")
    table = httpd.runtime / "table"
    text = table.read_text()
    where = re.search(r'"log": "=/proc/\d+/fd/(\d+) (\d+):(\d+)"', text)
    assert where, text
    new = httpd.runtime / "table.test"
    new.write_text(text.replace(f"{where[2]}:{where[3]}", f"{where[2]}:1"))
    shutil.copymode(table, new)
    os.rename(new, table)

    def is_seen() -> bool:
        prints(httpd, "elsewhere")
        return bool(httpd.log.matching(r"apppool: shop\[\d+\]> elsewhere$"))

    procs.send(httpd.helper("spawner"), 9)
    httpd.log.expect(r"spawner \d+ ended")
    wait_until(is_seen, "it is in the main log")
