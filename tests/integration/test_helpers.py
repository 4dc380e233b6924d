# Licensed under the Apache License, Version 2.0; see LICENSE.
"""apppool-watchdog and apppool-spawner: their properties, how they die, and
which program starts them again."""
import os
import re
import resource
import signal
import struct
import subprocess
import time
from pathlib import Path

import pytest

from harness import procs
from harness.httpd import Httpd
from harness.places import BUILD
from harness.procs import alive, kill9, send
from harness.wait import wait_until

pytestmark = pytest.mark.one_mpm("the helpers do not know the MPM")

DEAD = r"(spawner|watchdog) \d+ (ended|died)"


def last(httpd: Httpd, pattern: str) -> str:
    """The last line of the log that matches. Waits for one."""
    return wait_until(lambda: httpd.log.matching(pattern), pattern)[-1]


def say(pid: int, text: str) -> None:
    """Write to the stderr of the process, as it would itself."""
    with open(f"/proc/{pid}/fd/2", "a") as stderr:
        stderr.write(text)


# ---- what they are

def test_names(httpd: Httpd) -> None:
    """They are executed by descriptor, and still have their names."""
    httpd.app("shop")
    httpd.start()
    for name in ("watchdog", "spawner"):
        pid = httpd.helper(name)
        program = f"apppool-{name}"
        # The program sets it, a moment after it is executed.
        wait_until(lambda: procs.read(pid, "comm").decode()
                   == f"{program[:15]}\n", "it has its name")
        assert os.readlink(f"/proc/{pid}/exe") == str(BUILD / program)
        assert procs.command(pid) == f"{BUILD}/{program} {httpd.runtime}"


def test_descriptors(httpd: Httpd) -> None:
    """The descriptors that they have open. None is httpd's."""
    httpd.app("shop")
    httpd.start()
    httpd.get("/pid", "shop")
    common = r"/dev/null|pipe|anon_inode:|/memfd:(apppool|store-figures) |" \
        rf"{httpd.dir}/error.log|{httpd.runtime}(/(lock|\w+\.words))?|" \
        rf"{BUILD}/apppool-spawner|socket:"
    kinds = {"watchdog": rf"{common}|/memfd:store-items |{BUILD}/apppool-store",
             "spawner": rf"{common}|{httpd.runtime}/(registry|o/\w+)|"
                        "/sys/fs/cgroup"}
    for name, allowed in kinds.items():
        pid = httpd.helper(name)
        wait_until(lambda: not [file for file in procs.open_files(pid)
                                if not re.match(allowed, file)],
                   f"the {name} has nothing else open but for a moment")
    watchdog = httpd.helper("watchdog")
    assert len(procs.sockets(watchdog)) == 3, \
        "more than the parking lot and both ends of the store's mailbox"
    assert not procs.segments(watchdog), "it maps the segment"
    assert procs.segments(httpd.helper("spawner"))


def may_lower_oom_score() -> bool:
    return subprocess.run(["sh", "-c", "echo -1000 >/proc/self/oom_score_adj"],
                          capture_output=True).returncode == 0


def test_out_of_memory(httpd: Httpd) -> None:
    """The kernel ends apps first, and never the watchdog, if we may set
    that."""
    httpd.app("shop")
    httpd.start()
    app = int(httpd.get("/pid", "shop").text)
    own = int(Path("/proc/self/oom_score_adj").read_text())
    scores = [int(procs.read(pid, "oom_score_adj")) for pid in
              (httpd.helper("watchdog"), httpd.helper("spawner"), app)]
    permitted = may_lower_oom_score()
    assert scores == ([-1000, -900, 0] if permitted else [own, own, own])


def test_subreaper(httpd: Httpd) -> None:
    """Orphans of the spawner become children of the watchdog."""
    httpd.log.expect(DEAD)
    httpd.app("shop")
    httpd.start()
    app = int(httpd.get("/pid", "shop").text)
    watchdog, spawner = httpd.helper("watchdog"), httpd.helper("spawner")

    def parent(pid: int) -> int:
        now = procs.stat(pid)
        return now.ppid if now else 0

    assert (parent(app), parent(spawner)) == (spawner, watchdog)
    kill9(spawner)
    assert parent(app) == watchdog


def test_memory_of_the_watchdog(httpd: Httpd) -> None:
    httpd.app("shop")
    httpd.start()
    httpd.get("/pid", "shop")
    rollup = procs.read(httpd.helper("watchdog"), "smaps_rollup").decode()
    private = sum(int(line.split()[1]) for line in rollup.splitlines()
                  if line.startswith("Private_"))
    assert 0 < private <= 300, f"{private} KB"


# ---- last words

@pytest.mark.parametrize("sign", [signal.SIGSEGV, signal.SIGABRT,
                                  signal.SIGKILL])
def test_signal_is_named(httpd: Httpd, sign: signal.Signals) -> None:
    httpd.log.expect(DEAD)
    httpd.app("shop")
    httpd.start()
    for name in ("spawner", "watchdog"):
        pid = httpd.helper(name)
        send(pid, sign)
        line = last(httpd, rf"{name} {pid} (ended|died)")
        assert line.endswith((f"({sign.name})", f"died of {sign.name}",
                              "core dumped"))
        assert httpd.helper(name) != pid


@pytest.mark.parametrize("printed,shown", [
    ("free(): invalid pointer\n", "free(): invalid pointer"),
    ("first\nsecond\n\n \n", "second"),
    ("no end of line", "no end of line"),
    ("a\x1b[31m\tb\n", r"a\x1b[31m"),
    ("==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x602\n"
     "SUMMARY: AddressSanitizer: heap-use-after-free x.c:7 in f\n"
     + "Shadow bytes around the buggy address:\n" * 50 + "==7==ABORTING\n",
     "SUMMARY: AddressSanitizer: heap-use-after-free x.c:7 in f"),
    ("x" * 20000 + "\n", "x" * 200),
], ids=range(6))
@pytest.mark.mpms("event")
def test_last_words(httpd: Httpd, printed: str, shown: str) -> None:
    """The line in the log has the last output of the program."""
    httpd.log.expect(DEAD)
    httpd.app("shop")
    httpd.start()
    for name in ("spawner", "watchdog"):
        pid = httpd.helper(name)
        say(pid, printed)
        send(pid, signal.SIGSEGV)
        line = last(httpd, rf"{name} {pid} (ended|died)")
        assert "SIGSEGV" in line and shown in line
        assert len(line) < 600
        assert httpd.helper(name) != pid
    # The next one has printed nothing yet.
    pid = httpd.helper("spawner")
    last(httpd, f"joins the running spawner {pid}")
    kill9(pid)
    assert last(httpd, f"spawner {pid} ended").endswith("not known")


def damage_heap(pid: int) -> None:
    """Overwrite the size of the last chunk of the heap, as a buffer overflow
    would."""
    maps = procs.read(pid, "maps").decode()
    found = re.search(r"^([0-9a-f]+)-([0-9a-f]+) .*\[heap\]", maps, re.M)
    assert found
    start, end = (int(word, 16) for word in found.groups())
    with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
        memory.seek(start)
        heap = memory.read(end - start)
        # The last chunk reaches to the end of the heap. Earlier ones did so as
        # well.
        places = [at for at in range(8, len(heap), 16) if at - 9 + struct
                  .unpack_from("<Q", heap, at)[0] == len(heap)]
        assert places
        for at in places:
            memory.seek(start + at)
            memory.write(b"\xff" * 8)


@pytest.mark.mpms("event")
def test_last_words_of_glibc(httpd: Httpd) -> None:
    """A real abort: the allocator finds that its heap is damaged."""
    httpd.log.expect_crashes()
    httpd.log.expect(DEAD)
    httpd.app("shop")
    httpd.start()
    first = httpd.get("/pid", "shop").text
    spawner = httpd.helper("spawner")
    damage_heap(spawner)
    for n in range(20):
        httpd.app(f"more{n}")
    httpd.graceful()  # the new table takes memory
    line = last(httpd, f"spawner {spawner} ended")
    assert re.search(r"SIGABRT.*: (malloc|free|corrupted|sysmalloc)", line)
    assert httpd.get("/pid", "shop").text == first
    assert httpd.get("/pid", "more3").status == 200


@pytest.mark.mpms("event")
def test_last_words_when_the_watchdog_is_dead(httpd: Httpd) -> None:
    """The next watchdog cannot know the signal, but it has the last output."""
    httpd.log.expect(DEAD)
    httpd.app("shop")
    httpd.start()
    spawner, watchdog = httpd.helper("spawner"), httpd.helper("watchdog")
    say(spawner, "double free or corruption (out)\n")
    kill9(watchdog)
    last(httpd, f"joins the running spawner {spawner}")
    kill9(spawner)
    line = last(httpd, f"spawner {spawner} ended")
    assert line.endswith("not known: double free or corruption (out)")
    assert httpd.get("/pid", "shop").status == 200


# ---- the log

@pytest.mark.mpms("event")
def test_piped_log(httpd: Httpd) -> None:
    """Lines of the helpers reach the present logger, not an earlier one."""
    httpd.log.expect(DEAD)
    httpd.directives.append(
        f'ErrorLog "|/usr/bin/tee -a {httpd.dir}/error.log"')
    httpd.app("shop")
    httpd.start()
    httpd.get("/print?text=before", "shop")
    last(httpd, "before")
    httpd.graceful()
    httpd.get("/print?text=afterwards", "shop")
    last(httpd, "afterwards")
    pid = httpd.helper("spawner")
    kill9(pid)
    last(httpd, f"spawner {pid} ended")


# ---- again and again

def kill_at_once(httpd: Httpd, name: str, times: int) -> list[int]:
    """Kill each one as soon as it exists."""
    victims: list[int] = []
    for _ in range(times):
        pid = wait_until(lambda: next(
            (p for p in httpd.helpers(name) if p not in victims), 0),
            f"another {name}")
        victims.append(pid)
        kill9(pid)
    return victims


@pytest.mark.mpms("event")
def test_spawner_dies_again_and_again(httpd: Httpd) -> None:
    """It is started less and less often, with one line for each step. Apps
    still serve. Once it stays alive, all earlier deaths are forgotten."""
    httpd.log.expect(DEAD, "dies again and again")
    httpd.app("shop")
    httpd.start()
    pid = httpd.get("/pid", "shop").text
    httpd.helper("spawner")
    kill_at_once(httpd, "spawner", 5)
    assert not httpd.log.matching("again and again")
    kills = 5
    while not httpd.log.matching("next start in 3 s"):
        victim, = kill_at_once(httpd, "spawner", 1)
        last(httpd, f"spawner {victim} ended")
        kills += 1
    assert httpd.get("/pid", "shop").text == pid, "a running app serves"
    steps = [line.rpartition("next start in ")[2]
             for line in httpd.log.matching("again and again")]
    # Two seconds of life cancel one death. Five deaths cause no pause.
    assert steps[:3] == ["1 s", "2 s", "3 s"] or kills > 8
    survivor = httpd.helper("spawner")
    time.sleep(2 * (kills - 4) + 0.5)
    before = httpd.log.matching("again and again")
    kill9(survivor)
    wait_until(lambda: httpd.helpers("spawner"), "another one")
    assert httpd.log.matching("again and again") == before, "at once"


@pytest.mark.mpms("event")
def test_watchdog_dies_again_and_again(httpd: Httpd) -> None:
    """httpd's parent starts the first ones at once, and never gives up."""
    httpd.log.expect(DEAD)
    httpd.app("shop")
    httpd.start()
    pid = httpd.get("/pid", "shop").text
    spawner = httpd.helper("spawner")
    httpd.helper("watchdog")
    kill_at_once(httpd, "watchdog", 6)
    assert httpd.get("/pid", "shop").text == pid
    wait_until(lambda: httpd.helpers("watchdog"), "another one")
    assert httpd.helper("spawner") == spawner


@pytest.mark.mpms("event")
def test_helpers_get_sigterm(httpd: Httpd) -> None:
    """SIGTERM comes from another process than httpd. The apps end, and the
    next requests start them again."""
    httpd.log.expect(DEAD)
    httpd.app("shop")
    httpd.start()
    for name in ("spawner", "watchdog"):
        app = int(httpd.get("/pid", "shop").text)
        pid = httpd.helper(name)
        os.kill(pid, signal.SIGTERM)
        wait_until(lambda: not alive(app), "the app ends")
        last(httpd, rf"{name} {pid} ended")
        assert httpd.get("/pid", "shop").status == 200
        assert httpd.helper(name) != pid
    httpd.settles(active=0, count=1)
    httpd.check()


# ---- the app table

@pytest.mark.mpms("event")
@pytest.mark.parametrize("damage", ["half", "empty", "others may write"])
def test_damaged_table(httpd: Httpd, damage: str) -> None:
    """The spawner keeps the old table, and logs that. Without an old table,
    apps still serve until there is a new one."""
    httpd.log.expect(DEAD, "the app table .* is refused", "again and again")
    httpd.app("shop")
    httpd.app("blog")
    httpd.start()
    pid = httpd.get("/pid", "shop").text
    table = httpd.runtime / "table"
    text = table.read_text()
    beside = httpd.runtime / "beside"
    beside.write_text({"half": text[:len(text) // 2], "empty": ""}
                      .get(damage, text))
    beside.chmod(0o666 if damage == "others may write" else 0o600)
    beside.rename(table)
    line = last(httpd, "the app table")
    assert f"{table} is refused: " in line
    assert httpd.get("/pid", "shop").text == pid
    assert httpd.get("/pid", "blog").status == 200
    kill9(httpd.helper("spawner"))
    last(httpd, r"spawner \d+ ended: exit code 1")
    assert httpd.get("/pid", "shop").text == pid
    httpd.graceful()
    wait_until(lambda: httpd.ctl("check").returncode == 0, "it is back", 40)
    assert httpd.get("/pid", "shop").text == pid


@pytest.mark.mpms("event")
def test_table_is_read_again(httpd: Httpd) -> None:
    """There were no descriptors to read the table with. It is read when there
    are some."""
    httpd.log.expect("the app table .* is refused", "Too many open files")
    httpd.app("shop")
    httpd.start()
    spawner = httpd.helper("spawner")
    pid = httpd.get("/pid", "shop").text
    limits = resource.prlimit(spawner, resource.RLIMIT_NOFILE)
    resource.prlimit(spawner, resource.RLIMIT_NOFILE, (3, limits[1]))
    httpd.app("blog")
    httpd.graceful()
    assert "Too many open files" in last(httpd, "the app table")
    resource.prlimit(spawner, resource.RLIMIT_NOFILE, limits)
    last(httpd, "the app table .* is in force")
    assert httpd.get("/pid", "blog").status == 200
    assert httpd.get("/pid", "shop").text == pid
    assert len(httpd.log.matching("is refused")) == 1
    assert httpd.helper("spawner") == spawner
