# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The error log. A test fails if there is a line that it did not expect."""
import re
import signal
from datetime import datetime
from math import inf
from pathlib import Path
from typing import Pattern

from harness import procs, sentences
from harness.late import machine_was_late, machine_was_still
from harness.wait import wait_until

LEVEL = re.compile(r"^\[[^]]+\] \[\w*:(warn|error|crit|alert|emerg)\]")

# Crashes: of a child of httpd, which is only a notice (AH00050 to AH00052), of
# its parent, or of one of our helpers.
CRASH = re.compile(
    r"AH0005[0-2]|AH00060|exit signal|"
    r"apppool: (spawner|watchdog) \d+ .*SIG(SEGV|ABRT|BUS|ILL|FPE|TRAP|SYS)")
CHILD = re.compile(r"child pid (\d+) exit signal .*\((\d+)\)")
# Its parent sent SIGKILL, which is a line of level error.
KILLED_BY_PARENT = r"AH00046: child process {} still did not exit, "

# A helper that ended, with its signal if it is known.
ENDED = re.compile(
    r"apppool: (?:(?:spawner|watchdog) (\d+) (?:ended|died)|"
    r"[^ ]+\[(\d+)\] (?:died: signal|gave no response))(?:.*(SIG[A-Z0-9]+))?")

# What the next helper may log after one has ended. This depends on the moment.
# The test must expect the end itself.
HELPER_ENDED = re.compile(r"apppool: (spawner|watchdog) \d+ (ended|died)")
HELPER_FOLLOWS = re.compile(f"{sentences.DIES_OFTEN}|{sentences.FORGOTTEN}")

# Lines that no program has ever logged. A pattern that matches one of them
# would also match unrelated lines: a pattern has to be a sentence.
NEVER_LOGGED = (
    "apppool: shop[12] nobody has heard of this",
    "apppool: blog[12] nobody has heard of this: GET /pid",
    "apppool: bad[12] is bad: nobody has heard of this",
    "apppool: shop, blog, root0: the queue of this file is AH09999 odd",
    "apppool: shop[12] ended, and the child's report is odd",
    "apppool: spawner 12 and watchdog 12 have an opinion of their own",
    "apppool: child 12: processes, their descriptors, SIGKILL, SIGTERM",
    "apppool: AppNotify, AppLog, AppRoot: hello /tmp/x cannot, script",
    "[core:error] [pid 12:tid 12] AH00999: ap_nothing: signal Killed",
    "[proxy:error] [client 127.0.0.1:1] AH01999: proxy: shop.example was left",
    "[proxy_http:error] [pid 12:tid 12] AH10999: it timed out",
)

# All workers are busy for a moment.
BUSY = "AH00484: server reached MaxRequestWorkers "

# The log lines when an app is killed, possibly with an open request.
KILLED = (r"\[\d+\] died: signal 9 \(SIGKILL\)", r"\[\d+\] gave no response",
          sentences.CUT_OFF, "AH01102|AH01110|AH01114|AH00898|AH02454|AH10098")

# An app's process that was ended. Until the pool knows of it, a request may
# get that process, and mod_proxy then says so: chance decides whether one
# does. The request is sent to another process, or fails. Tests check that.
APP_ENDED = re.compile(
    r"apppool: [^ ]+\[(\d+)\] (?:died|ended by itself|was killed|gave no)")

# When event or worker is stopped, one thread of a child closes the sockets of
# the connections that its workers have, also without an app. A worker then
# finds no descriptor when it wants to wait on the connection or to close it.
# Elsewhere, such a line says that somebody has closed what is not theirs.
NO_SOCKET = re.compile(
    r"\[mpm_event:error\] .*\(9\)Bad file descriptor: "
    "(AH(03092|03093|03465|10503): .*apr_pollset_add failure|"
    "AH00468: error closing socket)")

# A worker may just have ended one of these connections: then the child may
# crash. Without our module, this happened at 9 of 40 stops of httpd under load.
# There is at most one such child for each stop.
STOPPED = r"\[mpm_(event|worker):notice\] .*" \
    r"(caught SIGTERM, shutting down|resuming normal operations)"
BACKEND = re.compile(sentences.NO_BACKEND)

# A process has taken more than a second for something that takes no time: a
# child of httpd or of the spawner, or an app that starts and has opened another
# port first. This is expected only if the machine was so loaded. It is never
# expected that a child of httpd does not end at all and gets SIGKILL (AH00046).
LATE = re.compile("|".join((
    "AH00045: child process .* still did not exit, sending a SIGTERM",
    "the search for processes (that apps have left behind|of apps) failed",
    sentences.REPORT_LATE, sentences.APPLOG_SLOW,
    sentences.WRONG_PORT + " .* yet$")))
PATIENCE = 3  # seconds

# An app that got SIGTERM has not ended in time. An app that ignores SIGTERM, or
# a spawner that does not send it, would log the same. So load is not enough: the
# machine must have been still. And a defect would log many of these lines.
NO_END = re.compile(f"{sentences.NO_TERM}|{sentences.CHILDREN_LEFT}")
MOST = 2  # of them in a test

# Lines about a process of a test that runs at the same time (harness/disk.py).
SUNK = "the environment of process .* cannot be read"


def time_of(line: str) -> float:
    """The time of day in a line."""
    return datetime.strptime(line[1:line.index("]")],
                             "%a %b %d %H:%M:%S.%f %Y").timestamp()


def was_ended(line: str) -> bool:
    """Is this line about a process to which the test sent that signal?"""
    match = ENDED.search(line)
    if not match:
        return False
    sent = {signal.Signals(sign).name for pid, sign in procs.SENT
            if pid == int(match[1] or match[2])}
    return match[3] in sent if match[3] else bool(sent)


class ErrorLog:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.expected = [re.compile(SUNK)]
        self.may_crash = False
        self.stops: list[float] = []  # when the test began to stop httpd

    def lines(self) -> list[str]:
        try:
            return self.path.read_text(errors="replace").splitlines()
        except FileNotFoundError:
            return []

    def expect(self, *patterns: str) -> None:
        """Lines of level warn or worse that this test provokes; see
        harness.sentences."""
        for pattern in patterns:
            covers = [line for line in NEVER_LOGGED
                      if re.search(pattern, line)]
            assert not covers, f"{pattern!r} would cover {covers[0]!r}"
        self.expected += [re.compile(pattern) for pattern in patterns]

    def expect_crashes(self) -> None:
        """This test damages children of httpd, or a helper. All other tests
        expect no crash, whatever their patterns are."""
        self.may_crash = True

    def matching(self, pattern: str) -> list[str]:
        return [line for line in self.lines() if re.search(pattern, line)]

    def wait_for(self, pattern: str, count: int = 1) -> list[str]:
        """Wait for at least this many lines that match. The effect of an
        action of the spawner may be visible before its line."""
        return wait_until(lambda: self.matching(pattern)[count - 1:]
                          and self.matching(pattern), f"{pattern} is logged")

    def bad(self) -> list[str]:
        """Lines of level warn or worse."""
        return [line for line in self.lines() if LEVEL.match(line)]

    def unexpected(self) -> list[str]:
        expected = list(self.expected)
        if any(HELPER_ENDED.search(line) for line in self.bad()):
            expected.append(HELPER_FOLLOWS)
        expected += self.late_ends()
        ended = self.first_end()
        return [line for line in self.bad()
                if not any(want.search(line) for want in expected)
                and not was_ended(line)
                and not (BACKEND.search(line) and time_of(line) >= ended)
                and not (NO_SOCKET.search(line) and self.is_in_stop(line))
                and not (LATE.search(line) and
                         machine_was_late(time_of(line), PATIENCE))] \
            + self.crashes()

    def late_ends(self) -> list[Pattern[str]]:
        """Matches the lines about apps that did not end, if there are few and
        the machine was still before each of them."""
        found = [line for line in self.bad() if NO_END.search(line)
                 and not any(want.search(line) for want in self.expected)
                 and machine_was_still(time_of(line), PATIENCE)]
        return [re.compile(re.escape(line)) for line in found] \
            if len(found) <= MOST else []

    def first_end(self) -> float:
        """The time of day when the test first ended a process of an app."""
        ended = {int(match[1]) for line in self.lines()
                 if (match := APP_ENDED.search(line))}
        return min((when for (pid, _), when in procs.SENT.items()
                    if pid in ended), default=inf)

    def crashes(self) -> list[str]:
        """Processes of httpd, and helpers, that ended by a signal that no test
        has sent."""
        found = [line for line in self.matching(CRASH.pattern)
                 if not self.may_crash and not self.was_killed(line)
                 and not was_ended(line)]
        return [] if found == self.crashes_at_stops() else found

    def crashes_at_stops(self) -> list[str]:
        """The children that crashed when httpd was stopped, if they are no more
        than the stops."""
        found = [line for line in self.matching(CHILD.pattern)
                 if CHILD.search(line)[2] == "11"  # type: ignore[index]
                 and self.is_in_stop(line)]
        return found if len(found) <= len(self.stops) else []

    def is_in_stop(self, line: str) -> bool:
        """Was it logged after the signal to httpd's parent, and before a line of
        the parent that it only logs when all children have ended?"""
        when = time_of(line)
        begun = [stop for stop in self.stops if stop <= when]
        return begun != [] and not any(
            begun[-1] <= time_of(stopped) < when
            for stopped in self.matching(STOPPED))

    def was_killed(self, line: str) -> bool:
        match = CHILD.search(line)
        return match is not None and (
            (int(match[1]), int(match[2])) in procs.SENT or
            match[2] == "9"
            and self.matching(KILLED_BY_PARENT.format(match[1])) != [])
