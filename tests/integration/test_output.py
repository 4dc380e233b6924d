# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The output of apps, and what is logged about them."""
import grp
import os
import re
import shutil
from pathlib import Path

import pytest

from harness import procs, sentences
from harness.httpd import USER, Httpd
from harness.late import Late
from harness.procs import alive, kill9
from harness.starts import another
from harness.wait import wait_until

pytestmark = pytest.mark.one_mpm("the spawner reads it")

LINES = 230000


def writers(httpd: Httpd) -> list[int]:
    """The processes that write AppLog."""
    return [pid for pid in procs.marked(str(httpd.dir))
            if procs.command(pid).startswith("apppool-log ")]


# ---- the files

def test_an_app_cannot_forge_a_line_of_ours(httpd: Httpd) -> None:
    """`shop[4711]> text` is from the app, `shop[4711] text` is from our
    programs."""
    httpd.app("shop")
    httpd.start()
    pid = httpd.get("/pid", "shop").text
    httpd.get("/print?text=ready-after-1-s", "shop")
    lines = httpd.log.wait_for("ready-after-1-s", 2)
    assert all(line.endswith(f" apppool: shop[{pid}]> ready-after-1-s")
               for line in lines)


@pytest.mark.one_mpm("the parent of httpd reads it")
def test_error_log_format(httpd: Httpd) -> None:
    """ErrorLogFormat holds for lines of applications and of our programs, by
    httpd's rules: without a value, an item is a hyphen or its field is left
    out. A virtual host may have its own."""
    own = httpd.dir / "blog-error.log"
    httpd.directives.append(
        'ErrorLogFormat "[%{cu}t] {%v|%l|%m|%P|%-a|%-L} [client\\ %a] %7F: %E:'
        ' %M% ,\\ referer\\ %{Referer}i [%%]"')
    httpd.app("shop")
    httpd.app("news", 'ErrorLogFormat "news %-l %-V %M"')
    httpd.app("blog", f'ErrorLog "{own}"')
    httpd.start()
    begins = r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}\] \{%s\|info\|" \
        rf"apppool\|{httpd.helper('spawner')}\|-\|-\}} apppool: "
    for name, file, form in (
            ("shop", httpd.log.path, begins % "shop" + r"%s \[%%\]"),
            ("news", httpd.log.path, "news info - apppool: %s"),
            ("blog", own, begins % "blog" + r"%s \[%%\]")):
        pid = httpd.get("/pid", name).text
        httpd.get(f"/print?text=words-of-{name}", name)
        line = form % rf"{name}\[{pid}\]> words-of-{name}"
        wait_until(lambda: re.search(f"^{line}$", file.read_text(), re.M),
                   f"{line} is in {file}")
    assert re.search(f"^{begins % '127.0.0.1'}" + r"shop\[\d+\] .* \[%\]$",
                     httpd.log.path.read_text(), re.M)
    httpd.directives.pop()
    httpd.graceful()
    httpd.get("/print?text=again", "shop")
    httpd.log.wait_for(r"\[apppool:info\] \[pid \d+\] apppool: shop.*again")


def test_rotated_by_rename(httpd: Httpd) -> None:
    """AppLog is opened again without a signal, and no line is lost."""
    file, old = httpd.dir / "shop.log", httpd.dir / "shop.log.1"
    httpd.app("shop", f"AppLog {file}")
    httpd.start()
    httpd.get("/lines?n=1000", "shop")
    wait_until(lambda: file.exists() and "line 000999" in file.read_text(),
               "they are written")
    file.rename(old)
    httpd.get("/lines?n=1000&from=1000", "shop")
    wait_until(lambda: file.exists() and "line 001999" in file.read_text(),
               "the others are in a new file")
    for where, first in ((old, 0), (file, 1000)):
        assert re.findall(r"> line (\d+) ", where.read_text()) == \
            [f"{n:06}" for n in range(first, first + 1000)]


def test_an_access_log_is_not_cut(httpd: Httpd) -> None:
    """20,000 lines at once"""
    file = httpd.dir / "shop.log"
    httpd.app("shop", f"AppLog {file}")
    httpd.start()
    assert httpd.get("/lines?n=20000", "shop").status == 200
    wait_until(lambda: file.exists() and "line 019999" in file.read_text(),
               "all are written")
    assert len(re.findall("> line ", file.read_text())) == 20000
    assert not httpd.log.matching("dropped")


def test_no_more_rights_than_its_user(httpd: Httpd) -> None:
    """Root's groups do not count. If the user may not write the file, root
    does. Root follows no link, and writes to no file that has another name."""
    group = grp.getgrnam("games").gr_gid
    place, link, own = (httpd.dir / s for s in ("logs", "link", "own"))
    place.mkdir()
    own.mkdir()
    shutil.chown(own, USER)
    (place / "news.log").touch(0o600)
    os.link(place / "news.log", httpd.dir / "another-name")
    os.chown(place, 0, group)
    place.chmod(0o770)
    link.symlink_to(place)
    httpd.wrapper = [shutil.which("setpriv") or "setpriv",
                     f"--groups={group}"]
    httpd.app("shop", f"AppLog {place}/shop.log")
    httpd.app("blog", f"AppLog {link}/blog.log")
    httpd.app("news", f"AppLog {place}/news.log")
    httpd.app("wiki", f"AppLog {own}/wiki.log")
    httpd.log.expect("AppLog .*/(blog|news).log cannot be opened")
    httpd.start()
    for name in ("shop", "blog", "news", "wiki"):
        httpd.get("/print?text=hello", name)
    for name, there in (("blog", link), ("news", place)):
        httpd.log.wait_for(rf"AppLog {there}/{name}.log cannot be opened")
        httpd.log.wait_for(rf"apppool: {name}\[\d+\]> hello", 2)
    for file, owner in ((place / "shop.log", "root"), (own / "wiki.log", USER)):
        wait_until(lambda: file.exists() and "> hello" in file.read_text(),
                   "it is written")
        assert file.owner() == owner
    assert not (place / "blog.log").exists()
    assert (place / "news.log").read_text() == ""


def test_no_right_of_roots_group(httpd: Httpd) -> None:
    """The app does not get that group, even if its user is a member"""
    httpd.log.expect("shop.log cannot be opened")
    group, place, link = (httpd.dir / s for s in ("group", "logs", "link"))
    group.write_text(Path("/etc/group").read_text().replace(
        "root:x:0:", f"root:x:0:{USER}"))
    place.mkdir()
    place.chmod(0o770)
    link.symlink_to(place)
    httpd.wrapper = ["unshare", "--mount", "--propagation", "private", "sh",
                     "-c", f'mount --bind {group} /etc/group && exec "$@"',
                     "sh"]
    httpd.app("shop", f"AppLog {link}/shop.log")
    httpd.start()
    httpd.get("/print?text=hello", "shop")
    file = place / "shop.log"
    wait_until(lambda: file.exists() or httpd.log.matching(
        f"AppLog {link}/shop.log cannot be opened"), "it was tried")
    assert not file.exists()


def test_first_lines_of_the_next_process(httpd: Httpd) -> None:
    """The same writer serves the next process."""
    httpd.log.expect(sentences.DIED)
    file = httpd.dir / "shop.log"
    httpd.app("shop", f"AppLog {file}")
    httpd.start()
    seen = set()
    for n in range(20):
        httpd.get(f"/print?text=line-{n}-of-20", "shop")
        seen.update(writers(httpd))
        another(httpd, "shop")
    httpd.get("/print?text=the-end", "shop")
    wait_until(lambda: "the-end" in file.read_text()
               or httpd.log.matching("lines dropped"), "it is written")
    text = file.read_text()
    assert [n for n in range(20) if f"> line-{n}-of-20" not in text] == []
    assert not httpd.log.matching("lines dropped")
    # On a slow machine a start may take longer than a writer waits.
    assert 1 <= len(seen) < 10


def test_writer_ends_with_the_last_process(httpd: Httpd) -> None:
    """Some seconds later. If it is killed, it is started again."""
    file = httpd.dir / "shop.log"
    httpd.app("shop", f"AppLog {file}", "PoolIdleTime 3")
    httpd.start()
    httpd.get("/print?text=one", "shop")
    first, = wait_until(lambda: writers(httpd), "there is one")
    kill9(first)

    def another() -> bool:
        httpd.get("/print?text=two", "shop")
        return writers(httpd) not in ([], [first])

    wait_until(another, "there is another one")
    wait_until(lambda: "two" in file.read_text(), "which writes")
    wait_until(lambda: not writers(httpd), "it ends with the idle process")


def printed_and_dropped(httpd: Httpd, file: Path) -> tuple[int, int]:
    """Lines of the app that are in this log, and those that it is said to
    lack."""
    text = file.read_text() if file.exists() else ""
    return (len(re.findall(r"> \d+$", text, re.M)),
            sum(int(n) for line in httpd.log.bad()
                for n in re.findall(r"(\d+) lines dropped", line)))


@pytest.mark.parametrize("to", ["shop.log", "missing/shop.log", "error.log"])
def test_ends_after_a_flood(httpd: Httpd, to: str) -> None:
    """It prints much more than the log takes, and ends at once. Each line is
    in the log, or the log says that it is missing."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR,
                     sentences.PRINTS_TOO_MUCH, sentences.APPLOG_SLOW,
                     sentences.APPLOG_CLOSED, sentences.LINES_LOST)
    file = httpd.dir / to if to == "shop.log" else httpd.log.path
    httpd.app("shop", *[f"AppLog {httpd.dir}/{to}"] * (to != "error.log"),
              command=f"seq {LINES}")
    httpd.start()
    assert httpd.get("/", "shop").status == 502
    wait_until(lambda: sum(printed_and_dropped(httpd, file)) >= LINES,
               "the log accounts for each line")
    printed, dropped = printed_and_dropped(httpd, file)
    few = 20  # lines about the app go the same way
    assert printed > 0 and printed + dropped < LINES + few


# ---- a log that blocks

@pytest.mark.mpms("event")
def test_a_log_that_is_not_read(httpd: Httpd) -> None:
    """AppLog is a FIFO that is full. Its app serves and prints, other apps
    start, the next spawner adopts them, and httpd stops."""
    httpd.log.expect(r"spawner \d+ ended", "was left over", "lines dropped",
                     sentences.DIED)
    fifo = httpd.dir / "fifo"
    os.mkfifo(fifo)
    shutil.chown(fifo, USER, USER)
    pipe = os.open(fifo, os.O_RDWR)
    app = httpd.app("shop", f"AppLog {fifo}")
    httpd.app("blog")
    httpd.start()
    try:
        pid = int(httpd.get("/pid", "shop").text)
        for _ in range(4):
            assert httpd.get("/lines?n=20000", "shop").status == 200
        httpd.log.wait_for(rf"AppLog {fifo} is not written fast enough: "
                           r"\d+ lines dropped")
        another(httpd, "blog")
        spawner = httpd.helper("spawner")
        kill9(spawner)
        httpd.log.wait_for(rf"shop\[{pid}\] is adopted")
        assert httpd.helper("spawner") != spawner
        another(httpd, "blog")
        assert httpd.get("/lines?n=20000", "shop").status == 200
        assert httpd.pids(app) == [pid]
        with Late(*procs.marked(str(httpd.dir))) as late:
            httpd.stop()
        late.within(20, "the stop")
        assert not alive(pid) and not writers(httpd)
    finally:
        os.close(pipe)
        fifo.unlink()


# ---- LogLevel

@pytest.mark.mpms("prefork", "event")
def test_log_level(httpd: Httpd) -> None:
    """The level of mod_apppool, from a graceful restart on. Notices and the
    output of apps are always logged."""
    httpd.log.expect(sentences.DIED)
    httpd.directives.append("LogLevel apppool:warn")
    httpd.app("shop")
    httpd.app("blog")
    httpd.start()
    httpd.get("/print?text=hello", "shop")
    httpd.log.wait_for(r"shop\[\d+\]> hello", 2)
    procs.send(int(httpd.get("/pid", "blog").text), 9)
    httpd.log.wait_for(r"blog\[\d+\] died")
    assert not httpd.log.matching(r"shop\[\d+\] (starts|ready)|blog.* starts")
    httpd.directives[-1] = "LogLevel apppool:info"
    httpd.graceful()

    def talks() -> bool:
        procs.send(int(httpd.get("/pid", "blog").text), 9)
        return bool(httpd.log.matching(r"blog\[\d+\] starts as"))

    wait_until(talks, "it talks")
