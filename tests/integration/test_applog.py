# Licensed under the Apache License, Version 2.0; see LICENSE.
"""AppLog: a file as the app prints it, a command; and without it, the error
log of the virtual host."""
import json
import os
import re
import shutil
import socket
import threading
from pathlib import Path

import pytest

from harness import procs
from harness.config import App
from harness.errorlog import KILLED
from harness.httpd import Httpd
from harness.procs import alive, kill9
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")


def prints(httpd: Httpd, text: str) -> None:
    assert httpd.get(f"/print?text={text}", "shop").status == 200


def has(file: Path, pattern: str) -> bool:
    return file.exists() and re.search(pattern, file.read_text(),
                                       re.M) is not None


def come(file: Path, pattern: str) -> None:
    wait_until(lambda: has(file, pattern), f"{pattern} is in {file.name}")


def running(httpd: Httpd, what: str) -> list[int]:
    """Processes of root's with this in their command"""
    return [pid for pid in procs.marked(str(httpd.dir))
            if what in procs.command(pid)
            and "apppool" not in procs.command(pid)]


def script(path: Path, text: str) -> Path:
    """A program"""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def first_says(httpd: Httpd, text: str) -> Path:
    """An app that prints this and serves"""
    (httpd.dir / "said").write_text(text + "\n")
    return script(httpd.dir / "app.sh",
                  f"cat {httpd.dir}/said; exec {httpd.command}")


# ---- AppLogFormat

def test_raw(httpd: Httpd) -> None:
    """JSON stays JSON, byte by byte"""
    file = httpd.dir / "shop.log"
    said = {"level": "info", "text": "a \t tab, \u00fc and \\x1b"}
    httpd.app("shop", f"AppLog {file}", "AppLogFormat raw",
              command=str(first_says(httpd, json.dumps(said) + "\n\x1b[0m")))
    httpd.start()
    assert httpd.get("/pid", "shop").status == 200
    come(file, r"\033\[0m")
    assert json.loads(file.read_text().splitlines()[0]) == said


def test_raw_log_that_cannot_be_opened(httpd: Httpd) -> None:
    """In the error log a line has its time, and control characters have no
    effect"""
    httpd.log.expect("AppLog", "hello")
    file = httpd.dir / "missing" / "shop.log"
    httpd.app("shop", f"AppLog {file}", "AppLogFormat raw",
              command=str(first_says(httpd, "hello \x1b[0m")))
    httpd.start()
    assert httpd.get("/pid", "shop").status == 200
    httpd.log.wait_for(rf"AppLog {file} cannot be opened")
    httpd.log.wait_for(rf"apppool: AppLog {file}> hello \\x1b\[0m$")


def test_raw_without_a_log(httpd: Httpd) -> None:
    httpd.app("shop", "AppLogFormat raw")
    done = httpd.test()
    assert done.returncode == 0
    assert "AppLogFormat raw" in done.stdout and "no effect" in done.stdout


@pytest.mark.parametrize("value,says", [
    ('AppLog ""', "one argument"), ('AppLog "|"', "is no command"),
    ('AppLog "||$ "', "is no command"), ("AppLogFormat json", "prefixed raw")])
def test_bad_values(httpd: Httpd, value: str, says: str) -> None:
    httpd.app("shop", value)
    done = httpd.test()
    assert done.returncode != 0 and says in done.stdout, done.stdout


# ---- a command

def piped(httpd: Httpd, *directives: str) -> tuple[Path, App]:
    """An app whose log is a command that writes to this file"""
    file = httpd.dir / "piped.log"
    program = script(httpd.dir / "logger.sh",
                     'echo "begins as $(id -u): $*" >>"$1"; '
                     'while read -r line; do echo "$line" >>"$1"; done; '
                     'echo "ends" >>"$1"')
    return file, httpd.app("shop", f'AppLog "|{program} {file} \'a b\'"',
                           *directives)


def test_command(httpd: Httpd) -> None:
    """As root, with its words, and the lines; it ends with httpd"""
    file, _ = piped(httpd)
    httpd.start()
    prints(httpd, "hello")
    come(file, r"shop\[\d+\]> hello$")
    assert file.read_text().startswith(f"begins as 0: {file} a b\n")
    httpd.stop()
    assert file.read_text().endswith("\nends\n")
    assert not running(httpd, "logger.sh")


def test_command_of_a_shell(httpd: Httpd) -> None:
    file = httpd.dir / "piped.log"
    httpd.app("shop", f'AppLog "|$sed s/hello/bye/ >>{file}"',
              "AppLogFormat raw")
    httpd.start()
    prints(httpd, "hello")
    httpd.stop()
    assert has(file, "^bye$")


def test_command_is_killed(httpd: Httpd) -> None:
    """It is started again, and no line is lost"""
    httpd.log.expect("the command ended")
    file, _ = piped(httpd)
    httpd.start()
    prints(httpd, "one")
    come(file, "> one$")
    [pid] = running(httpd, "logger.sh")
    kill9(pid)
    wait_until(lambda: not alive(pid), "it is dead")
    prints(httpd, "two")
    come(file, "> two$")
    httpd.log.wait_for(r"AppLog \|.*: the command ended: signal 9 \(SIGKILL\)")
    assert len(running(httpd, "logger.sh")) == 1


def test_command_that_there_is_not(httpd: Httpd) -> None:
    """The log says so; the app serves"""
    httpd.log.expect("AppLog")
    httpd.app("shop", f'AppLog "|{httpd.dir}/nothing there"')
    httpd.start()
    prints(httpd, "one")

    def is_said() -> bool:
        prints(httpd, "more")
        return bool(httpd.log.matching(r"nothing there: the command ended: "
                                       r"exit code 127"))

    wait_until(is_said, "it is said")


def test_command_is_renewed_by_a_reload(httpd: Httpd) -> None:
    """By httpd's rules: so one that has a file open takes a new one"""
    file, _ = piped(httpd)
    httpd.start()
    prints(httpd, "one")
    come(file, "> one$")
    [first] = running(httpd, "logger.sh")
    file.rename(httpd.dir / "old.log")
    httpd.graceful()
    wait_until(lambda: not alive(first), "it ends")
    prints(httpd, "two")
    come(file, "> two$")
    assert has(httpd.dir / "old.log", "> one$")


def test_command_that_does_not_read(httpd: Httpd) -> None:
    """The app serves, and httpd stops"""
    httpd.log.expect("AppLog", "prints too much", "was left over")
    program = script(httpd.dir / "logger.sh",
                     "trap '' TERM; while :; do sleep 1000; done")
    httpd.app("shop", f'AppLog "|{program}"', program="noisy.py")
    httpd.start()
    for _ in range(4):
        assert httpd.get("/lines?n=20000", "shop").status == 200
    httpd.log.wait_for(r"AppLog \|.* is not written fast enough: \d+ lines")
    httpd.stop(20)
    assert not running(httpd, "logger.sh")


def test_command_that_does_not_read_is_renewed(httpd: Httpd) -> None:
    """By a reload, although its input is full"""
    httpd.log.expect("AppLog", "prints too much", "was left over")
    program = script(httpd.dir / "logger.sh", "kill -STOP $$")
    httpd.app("shop", f'AppLog "|{program}"', program="noisy.py")
    httpd.start()
    assert httpd.get("/lines?n=20000", "shop").status == 200
    httpd.log.wait_for(r"AppLog \|.* is not written fast enough: \d+ lines")
    wait_until(lambda: running(httpd, "logger.sh"), "it runs")
    [first] = running(httpd, "logger.sh")
    httpd.graceful()
    wait_until(lambda: not alive(first), "it ends")
    httpd.stop(20)
    assert not running(httpd, "logger.sh")


def test_command_that_reads_slowly_is_renewed(httpd: Httpd) -> None:
    """By a reload, although there is always more to read; the new one goes on
    with the next line"""
    httpd.log.expect("AppLog", "prints too much")
    program = httpd.dir / "logger.py"
    program.write_text(
        "import os, time\n"
        f"out = os.open(f'{httpd.dir}/{{os.getpid()}}.log', os.O_CREAT | 1)\n"
        "while text := os.read(0, 4096):\n"
        "    os.write(out, text)\n"
        "    time.sleep(0.3)\n")
    httpd.app("shop", f'AppLog "|/usr/bin/python3 {program}"',
              program="noisy.py")
    httpd.start()
    assert httpd.get("/lines?n=20000", "shop").status == 200
    httpd.log.wait_for(r"AppLog \|.* is not written fast enough: \d+ lines")
    wait_until(lambda: running(httpd, "logger.py"), "it runs")
    [first] = running(httpd, "logger.py")
    come(httpd.dir / f"{first}.log", "line 0000")
    httpd.graceful()
    wait_until(lambda: not alive(first), "it ends")
    wait_until(lambda: running(httpd, "logger.py"), "another one reads")
    [second] = running(httpd, "logger.py")
    come(httpd.dir / f"{second}.log", r"\A\[[^]]+\] shop\[\d+\]> line \d+ x")
    httpd.stop(20)
    wait_until(lambda: not running(httpd, "logger.py"), "it ends, too")


def test_another_command(httpd: Httpd) -> None:
    """With a graceful restart: the old one ends, the new one has the lines,
    and none is lost"""
    file, app = piped(httpd)
    new = httpd.dir / "new.log"
    httpd.start()
    prints(httpd, "line-0-")
    come(file, "> line-0-$")
    [first] = running(httpd, "logger.sh")
    stop = threading.Event()
    last = [0]

    def print_on() -> None:
        while not stop.is_set():
            last[0] += 1
            prints(httpd, f"line-{last[0]}-")

    printer = threading.Thread(target=print_on)
    printer.start()
    try:
        app.directives = [d.replace(str(file), str(new))
                          for d in app.directives]
        httpd.graceful()
        come(new, "> line-")
    finally:
        stop.set()
        printer.join()
    wait_until(lambda: not alive(first), "the old one ends")
    come(new, f"> line-{last[0]}-$")
    assert file.read_text().endswith("\nends\n")
    printed = [int(n) for log in (file, new)
               for n in re.findall(r"> line-(\d+)-$", log.read_text(), re.M)]
    # On standard output, and on standard error.
    assert printed == sorted(2 * list(range(last[0] + 1)))


# ---- the error log of the virtual host

def test_file_of_the_virtual_host(httpd: Httpd) -> None:
    """Where its errors go; not in the main log; rotated with httpd"""
    httpd.log.expect(r"spawner \d+ ended")
    file, old = httpd.dir / "vhost.log", httpd.dir / "vhost.log.1"
    httpd.app("shop", f"ErrorLog {file}")
    httpd.app("blog")
    httpd.start()
    prints(httpd, "hello")
    assert httpd.get("/print?text=of-blog", "blog").status == 200
    come(file, r"\[apppool:info\] \[pid \d+\] apppool: shop\[\d+\]> hello$")
    httpd.log.wait_for(r"blog\[\d+\]> of-blog")
    assert not httpd.log.matching("> hello") and not has(file, "of-blog")
    file.rename(old)
    prints(httpd, "before")  # httpd has that file open yet
    come(old, "> before$")
    httpd.graceful()
    prints(httpd, "after")
    come(file, "> after$")
    assert not has(old, "> after$")
    before = httpd.helper("spawner")
    kill9(before)
    wait_until(lambda: httpd.spawner_now() not in (0, before), "another one")
    prints(httpd, "adopted")
    come(file, "> adopted$")


def test_pipe_of_the_virtual_host(httpd: Httpd) -> None:
    file = httpd.dir / "vhost.log"
    httpd.app("shop", f'ErrorLog "|$cat >>{file}"')
    httpd.start()
    prints(httpd, "hello")
    come(file, r"apppool: shop\[\d+\]> hello$")
    httpd.graceful()
    prints(httpd, "again")
    come(file, r"apppool: shop\[\d+\]> again$")
    assert not httpd.log.matching("> (hello|again)")


def test_syslog_of_the_virtual_host(httpd: Httpd) -> None:
    """By the facility and the tag that ErrorLog names, without a time"""
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
        'mount --rbind $d /dev && exec "$@"', "sh"]
    httpd.app("shop", "ErrorLog syslog:local3:shop-tag")
    httpd.start()
    try:
        prints(httpd, "hello")
        said = b""
        while b"> hello" not in said:
            said = server.recv(4096)
        local3_error, local3_info = 19 * 8 + 3, 19 * 8 + 6
        assert re.match(rb"<%d>.* shop-tag: \[apppool:info\] \[pid \d+\] "
                        rb"apppool: shop\[\d+\]> hello$" % local3_info, said), \
            said
        httpd.log.expect(*KILLED)
        kill9(int(httpd.get("/pid", "shop").text))
        while b"] died: " not in said:
            said = server.recv(4096)
        assert re.match(rb"<%d>.* shop-tag: \[apppool:error\] " % local3_error,
                        said), said
    finally:
        httpd.stop()
        server.close()
        path.unlink()


def test_same_log_as_the_main_server(httpd: Httpd) -> None:
    """Then nothing is between: no child writes"""
    httpd.app("shop", "ErrorLog error.log")
    httpd.start()
    prints(httpd, "hello")
    httpd.log.wait_for(r"shop\[\d+\]> hello", 2)
    assert not [pid for pid in procs.marked(str(httpd.dir))
                if procs.command(pid).startswith("apppool-log ")]


def test_descriptor_is_another_file_by_now(httpd: Httpd) -> None:
    """httpd was killed, or has not told yet: the main log has the lines"""
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

    os.kill(httpd.helper("spawner"), 9)
    httpd.log.expect(r"spawner \d+ ended")
    wait_until(is_seen, "it is in the main log")
