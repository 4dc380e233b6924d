# Licensed under the Apache License, Version 2.0; see LICENSE.
"""An AppLog that is a command, by the rules of httpd's piped logs."""
import re
import threading
from pathlib import Path

import pytest

from harness import procs, sentences
from harness.config import App
from harness.httpd import Httpd
from harness.logs import come, has, prints, script
from harness.procs import alive, kill9
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")


def running(httpd: Httpd, what: str) -> list[int]:
    """Processes of root with this text in their command."""
    return [pid for pid in procs.marked(str(httpd.dir))
            if what in procs.command(pid)
            and "apppool" not in procs.command(pid)]


def piped(httpd: Httpd, at_the_end: str = "") -> tuple[Path, App]:
    """An app whose log is a command that writes to this file."""
    file = httpd.dir / "piped.log"
    program = script(httpd.dir / "logger.sh",
                     'echo "begins as $(id -u): $*" >>"$1"; '
                     'while read -r line; do echo "$line" >>"$1"; done; '
                     f'{at_the_end} echo "ends" >>"$1"')
    return file, httpd.app("shop", f'AppLog "|{program} {file} \'a b\'"')


def test_command(httpd: Httpd) -> None:
    """As root, with its arguments and the lines. It ends by itself when httpd
    stops, although it takes two seconds to write its last line."""
    file, _ = piped(httpd, "sleep 2;")
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
    """It is started again, and no line is lost."""
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


def test_command_does_not_exist(httpd: Httpd) -> None:
    """The log says so, and the app serves requests."""
    httpd.log.expect(sentences.APPLOG_ENDED, sentences.APPLOG_UNREAD)
    httpd.app("shop", f'AppLog "|{httpd.dir}/nothing there"')
    httpd.start()
    prints(httpd, "one")

    def is_logged() -> bool:
        prints(httpd, "more")
        return bool(httpd.log.matching(r"nothing there: the command ended: "
                                       r"exit code 127"))

    wait_until(is_logged, "it is logged")


def test_command_is_renewed_by_a_reload(httpd: Httpd) -> None:
    """As httpd does it, so a command that has a file open takes a new file."""
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
    """The app serves, and httpd stops. The log says what was not read."""
    httpd.log.expect(sentences.APPLOG_SLOW, "prints too much", "was left over",
                     sentences.APPLOG_STAYS, sentences.APPLOG_UNREAD,
                     sentences.LINES_LOST)
    program = script(httpd.dir / "logger.sh",
                     "trap '' TERM; while :; do sleep 1000; done")
    httpd.app("shop", f'AppLog "|{program}"')
    httpd.start()
    for _ in range(4):
        assert httpd.get("/lines?n=20000", "shop").status == 200
    httpd.log.wait_for(r"AppLog \|.* is not written fast enough: \d+ lines")
    httpd.stop()
    assert not running(httpd, "logger.sh")
    for line in (sentences.APPLOG_STAYS, sentences.APPLOG_UNREAD,
                 sentences.LINES_LOST):
        assert httpd.log.matching(line)


def test_command_that_does_not_read_is_renewed(httpd: Httpd) -> None:
    """By a reload, although its input is full. The log says what it has not
    read."""
    httpd.log.expect(sentences.APPLOG_SLOW, "prints too much", "was left over",
                     sentences.APPLOG_STAYS, sentences.APPLOG_UNREAD,
                     sentences.LINES_LOST)
    program = script(httpd.dir / "logger.sh", "kill -STOP $$")
    httpd.app("shop", f'AppLog "|{program}"')
    httpd.start()
    assert httpd.get("/lines?n=20000", "shop").status == 200
    httpd.log.wait_for(r"AppLog \|.* is not written fast enough: \d+ lines")
    wait_until(lambda: running(httpd, "logger.sh"), "it runs")
    [first] = running(httpd, "logger.sh")
    httpd.graceful()
    wait_until(lambda: not alive(first), "it ends")
    httpd.log.wait_for(sentences.APPLOG_UNREAD)
    httpd.stop()
    assert not running(httpd, "logger.sh")


def test_command_that_reads_slowly_is_renewed(httpd: Httpd) -> None:
    """By a reload, although there is always more to read. The new command
    continues with the next line."""
    httpd.log.expect(sentences.APPLOG_SLOW, "prints too much",
                     sentences.APPLOG_STAYS, sentences.APPLOG_UNREAD,
                     sentences.LINES_LOST)
    program = httpd.dir / "logger.py"
    program.write_text(
        "import os, time\n"
        f"out = os.open(f'{httpd.dir}/{{os.getpid()}}.log', os.O_CREAT | 1)\n"
        "while text := os.read(0, 4096):\n"
        "    os.write(out, text)\n"
        "    time.sleep(0.3)\n")
    httpd.app("shop", f'AppLog "|/usr/bin/python3 {program}"')
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
    httpd.stop()
    wait_until(lambda: not running(httpd, "logger.py"), "it ends, too")


def test_another_command(httpd: Httpd) -> None:
    """After a graceful restart the old one ends, and the new one gets the
    lines. None is lost."""
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
    # Lines that were on their way have started it again. It stays for a while.
    wait_until(lambda: file.read_text().endswith("\nends\n"), "it ends again")
    printed = [int(n) for log in (file, new)
               for n in re.findall(r"> line-(\d+)-$", log.read_text(), re.M)]
    # On standard output, and on standard error.
    assert printed == sorted(2 * list(range(last[0] + 1)))
