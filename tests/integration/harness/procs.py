# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Processes, as /proc shows them."""
import ctypes
import os
import re
import signal
import subprocess
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Iterator, NamedTuple, Optional

from harness.wait import wait_until

PROC = Path("/proc")
# A read of these waits while the process holds the lock of its memory.
OF_MEMORY = {"cmdline", "environ", "maps", "smaps_rollup"}
PF_FORKNOEXEC = 0x40
PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT = 17, 0x4206, 0x4207
WALL = 0x40000000
TICKS = os.sysconf("SC_CLK_TCK")
SUNK: set[int] = set()  # reads that have not returned yet
# Pid and number of a signal of a test, and the time of day when it was sent.
SENT: dict[tuple[int, int], float] = {}


class Stat(NamedTuple):
    state: str
    ppid: int
    pgid: int
    sid: int
    flags: int


def pids() -> list[int]:
    return [int(name) for name in os.listdir(PROC) if name.isdigit()]


def is_sunk(pid: int) -> bool:
    """Does it wait in the kernel (Disk) for a long time? Our processes do so
    only when they read from a process that does."""
    for _ in range(20):
        now = stat(pid)
        if now is None or now.state != "D" or \
                b"(apppool-" in read(pid, "stat"):
            SUNK.discard(pid)
            return False
        if pid in SUNK:
            return True
        time.sleep(0.05)
    SUNK.add(pid)
    return True


def read(pid: int, name: str) -> bytes:
    """A file of /proc/PID. It is empty if the process is gone or a zombie, or
    if the read would block."""
    if name in OF_MEMORY and is_sunk(pid):
        return b""
    try:
        with open(f"/proc/{pid}/{name}", "rb", buffering=0) as file:
            return file.readall()
    except OSError:
        return b""


def of_threads(pid: int, name: str) -> list[bytes]:
    """A file of each of its threads, or none if it is gone."""
    try:
        tids = os.listdir(PROC / str(pid) / "task")
    except OSError:
        return []
    return [read(pid, f"task/{tid}/{name}") for tid in tids]


def threads(pid: int) -> set[str]:
    """The states of its threads, or none if it is gone."""
    stats = [text.rpartition(b")")[2].split()
             for text in of_threads(pid, "stat")]
    return {fields[0].decode() for fields in stats if fields}


def waits(pid: int) -> list[str]:
    """The place in the kernel where each of its threads waits."""
    return [text.decode() for text in of_threads(pid, "wchan")]


def all_sleep(pid: int) -> bool:
    """Was there a moment, just now, when none of its threads ran or was about
    to run? A thread may wake another one between two looks at them: then that
    one has still to run at the second look, or has got a CPU once more."""
    before = of_threads(pid, "schedstat")
    return threads(pid) == threads(pid) == {"S"} \
        and of_threads(pid, "schedstat") == before


def stat(pid: int) -> Optional[Stat]:
    text = read(pid, "stat").decode("latin-1")
    if not text:
        return None
    fields = text.rpartition(")")[2].split()
    return Stat(fields[0], int(fields[1]), int(fields[2]), int(fields[3]),
                int(fields[6]))


def alive(pid: int) -> bool:
    """Does it run? A zombie does not, unless other threads of it do: its files
    are then still open."""
    now = stat(pid)
    return now is not None and (now.state not in "ZX"
                                or not threads(pid) <= set("ZX"))


def command(pid: int) -> str:
    return read(pid, "cmdline").replace(b"\0", b" ").decode("latin-1").strip()


def executed(pid: int) -> bool:
    """Has it executed a program? A process that was only forked has the name
    of its parent, and may outlive the parent for a moment."""
    now = stat(pid)
    return now is not None and not now.flags & PF_FORKNOEXEC


def environment(pid: int) -> dict[str, str]:
    entries = read(pid, "environ").decode("latin-1").split("\0")
    return dict(entry.split("=", 1) for entry in entries if "=" in entry)


def uids(pid: int) -> set[int]:
    """Real, effective, saved and file system user."""
    for line in read(pid, "status").decode().splitlines():
        if line.startswith("Uid:"):
            return {int(word) for word in line.split()[1:]}
    return set()


def children(pid: int) -> list[int]:
    return [p for p in pids() if (s := stat(p)) is not None
            and s.ppid == pid and s.state not in "ZX"]


def copies(pid: int) -> list[int]:
    """Its children that it has forked and that have executed no program, as the
    spawner's search for processes is one."""
    own = command(pid)
    return [child for child in children(pid) if command(child) == own]


def children_at_once(pid: int) -> list[int]:
    """The child processes of its first thread, from a single file. One may be
    missing while another one ends."""
    return [int(word) for word in read(pid, f"task/{pid}/children").split()]


def now() -> int:
    """Clock ticks since boot, as in the start time of a process."""
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * TICKS)


def newer(born: int) -> Iterator[int]:
    """Processes that have started since then, without this one. This leaves
    out most processes of the machine, so nothing else of them is read."""
    for pid in pids():
        fields = read(pid, "stat").rpartition(b")")[2].split()
        if fields and int(fields[19]) >= born and pid != os.getpid():
            yield pid


def is_marked(pid: int, text: str) -> bool:
    """Is this text in its command, environment or directory?"""
    needle = text.encode()
    try:
        cwd = os.readlink(f"/proc/{pid}/cwd").encode()
    except OSError:
        cwd = b""  # also of a zombie, which has none of these
    return needle in cwd or needle in read(pid, "cmdline") \
        or needle in read(pid, "environ")


def marked(text: str, born: int = 0) -> Iterator[int]:
    """Marked processes that have started since then."""
    return (pid for pid in newer(born) if is_marked(pid, text))


def segments(pid: int) -> set[int]:
    """Inodes of the pool segments that the process has mapped."""
    maps = read(pid, "maps")
    if b"/memfd:apppool" not in maps:
        return set()  # as of most processes: this reads all of them
    return {int(line.split()[4]) for line in maps.splitlines()
            if b"/memfd:apppool" in line}


def connections(port: int) -> dict[str, int]:
    """Established TCP connections to this port: the name of the server's end
    in /proc/PID/fd, and the port of the client."""
    done = subprocess.run(["ss", "-Htne", "state", "connected", "exclude",
                           "time-wait", "sport", "=", f":{port}"],
                          check=True, text=True, stdout=subprocess.PIPE)
    found = {}
    for line in done.stdout.splitlines():
        inode = re.search(r" ino:(\d+) ", line)
        if inode:
            found[f"socket:[{inode[1]}]"] = int(
                line.split()[4].rpartition(":")[2])
    return found


def has_closed_window(port: int, peer: int) -> bool:
    """Is there no room at the client's end of this loopback connection for the
    bytes that the server's end has to send?"""
    done = subprocess.run(["ss", "-Htno", "sport", "=", f":{port}", "and",
                           "dport", "=", f":{peer}"], check=True, text=True,
                          stdout=subprocess.PIPE)
    return "timer:(persist" in done.stdout


def listening(port: int) -> set[str]:
    """The sockets that listen on this TCP port, with their names in
    /proc/PID/fd. The kernel lists them before all others, of which there may
    be thousands."""
    found = set()
    with open(PROC / "net/tcp") as lines:
        next(lines)
        for line in lines:
            words = line.split()
            if words[3] != "0A":
                break
            if words[1].endswith(f":{port:04X}"):
                found.add(f"socket:[{words[9]}]")
    return found


def is_spool(name: str) -> bool:
    """Is that, in /proc/PID/fd, a temporary file of httpd? It never had a name,
    or has lost it."""
    return re.search(r"/(#\d+|apppool\.\w+) \(deleted\)$", name) is not None


def spool_sizes(pid: int) -> list[int]:
    """The sizes of its temporary files."""
    sizes = []
    with suppress(OSError):
        for fd in (PROC / str(pid) / "fd").iterdir():
            with suppress(OSError):
                if is_spool(os.readlink(fd)):
                    sizes.append(fd.stat().st_size)
    return sizes


def sockets(pid: int) -> set[str]:
    """Its open sockets, with their names in /proc/PID/fd."""
    return {name for name in open_files(pid) if name.startswith("socket:")}


def unix_sockets() -> set[str]:
    """All Unix sockets of the host, with their names in /proc/PID/fd."""
    lines = (PROC / "net/unix").read_text().splitlines()[1:]
    return {f"socket:[{line.split()[6]}]" for line in lines}


def socket_owner(candidates: list[int], port: int, peer: int) -> int:
    """Which of these processes has the loopback connection from peer to
    port?"""
    wanted = {name for name, other in connections(port).items()
              if other == peer}
    for pid in candidates:
        if wanted & sockets(pid):
            return pid
    raise AssertionError(f"nobody has the connection from {peer}")


def freeze(pid: int) -> None:
    """Stop it, and return when none of its threads runs. SIGSTOP goes to one
    thread, which stops the others when it gets a CPU."""
    os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: threads(pid) <= set("Tt"), f"{pid} is stopped")


@contextmanager
def frozen(pid: int) -> Iterator[None]:
    freeze(pid)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@contextmanager
def traced(*pids: int) -> Iterator[None]:
    """Hold the processes as a debugger does: SIGCONT does not continue them,
    SIGKILL ends them."""
    libc = ctypes.CDLL(None, use_errno=True)
    for pid in pids:
        if libc.ptrace(PTRACE_SEIZE, pid, None, None) != 0 \
                or libc.ptrace(PTRACE_INTERRUPT, pid, None, None) != 0:
            raise OSError(ctypes.get_errno(), f"ptrace {pid}")
        os.waitpid(pid, WALL)
    try:
        yield
    finally:
        for pid in pids:
            if libc.ptrace(PTRACE_DETACH, pid, None, None) != 0:
                with suppress(ChildProcessError):
                    os.waitpid(pid, WALL)  # it is dead


def send(pid: int, sign: int) -> None:
    """Send a signal that may end the process. The error log then knows that
    the test did it."""
    # 0 would be all processes of the whole run, and -1 of the machine.
    assert pid > 1, f"signal {sign} to {pid}"
    SENT.setdefault((pid, int(sign)), time.time())
    os.kill(pid, sign)


def kill9(pid: int) -> None:
    """Kill it, and return when it is dead: its sockets are then closed."""
    send(pid, signal.SIGKILL)
    wait_until(lambda: not alive(pid), f"{pid} is dead")


def kill9_if_alive(pid: int) -> None:
    """The same for a process that may end by itself at this moment."""
    with suppress(ProcessLookupError):
        kill9(pid)


def private_memory(pid: int) -> int:
    """Bytes that it shares with no other process."""
    return 1024 * sum(int(line.split()[1]) for line
                      in read(pid, "smaps_rollup").decode().splitlines()
                      if line.startswith("Private_"))


def peak_memory(pid: int) -> int:
    """The largest number of bytes that it has had in memory, with shared
    ones."""
    for line in read(pid, "status").decode().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def open_files(pid: int, filled: bool = False) -> list[str]:
    """The files of its descriptors, or none if it is gone. With filled,
    without empty files."""
    place = f"/proc/{pid}/fd"
    found = []
    with suppress(FileNotFoundError, ProcessLookupError):
        for fd in os.listdir(place):
            with suppress(FileNotFoundError):
                if not filled or os.stat(f"{place}/{fd}").st_size > 0:
                    found.append(os.readlink(f"{place}/{fd}"))
    return found


def descriptors(pid: int) -> int:
    """The number of its open descriptors."""
    return len(os.listdir(PROC / str(pid) / "fd"))


def pss(pids: list[int]) -> int:
    """KB, shared pages in part."""
    return sum(int(line.split()[1]) for pid in pids
               for line in read(pid, "smaps_rollup").decode().splitlines()
               if line.startswith("Pss:"))
