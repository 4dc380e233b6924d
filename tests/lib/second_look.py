# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Plugin of pytest: a test that failed only because it missed a limit of time
leaves a record in $APPPOOL_SECOND_LOOK, if that is set. second_look.sh runs the
test once more.

A test leaves none if any of its phases failed otherwise. So a fixture that
finds damage after a missed limit raises an AssertionError, as for any test. Nor
does it leave one if a witness has seen something (missed.py)."""
import os
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterator

import pytest

from missed import only_missed, witnesses

ANSWER = "second look"  # a property of the last report: "" or why not
ENVIRONMENT = ("APPPOOL_", "ASAN_", "UBSAN_", "SEED")  # of the second run


@dataclass
class Course:
    """How a test went so far."""
    failed: list[pytest.TestReport] = field(default_factory=list)
    missed: bool = False
    otherwise: str = ""  # how it failed, if not by a missed limit
    logs: list[Path] = field(default_factory=list)


COURSE = pytest.StashKey[Course]()


def course(item: pytest.Item) -> Course:
    return item.stash.setdefault(COURSE, Course())


def missed_so_far(item: pytest.Item) -> bool:
    """Has it failed, and only by missed limits?"""
    now = course(item)
    return now.missed and not now.otherwise


def keep(item: pytest.Item, logs: Path) -> None:
    """The second run will overwrite these logs."""
    course(item).logs.append(logs)


@contextmanager
def noted(item: pytest.Item) -> Iterator[None]:
    """What a fixture raises here counts, also if another one has raised before
    it: pytest 7 reports only the first exception of a teardown, and pytest 8 a
    group without their words."""
    try:
        yield
    except Exception as error:
        if not only_missed(error):
            words = f"{type(error).__name__}: {error}"
            course(item).otherwise = f"teardown: {words.splitlines()[0]}"
        raise


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Iterator[None]:
    outcome = yield
    report = outcome.get_result()
    now = course(item)
    if report.failed:
        now.failed.append(report)
        if call.excinfo is not None and only_missed(call.excinfo.value):
            now.missed = True
        else:
            what = call.excinfo.exconly() if call.excinfo else report.outcome
            now.otherwise = now.otherwise or \
                f"{report.when}: {what.splitlines()[0]}"
    if report.when == "teardown":
        if now.missed:
            decide(item, report)
        witnesses.clear()


def decide(item: pytest.Item, last: pytest.TestReport) -> None:
    place = os.environ.get("APPPOOL_SECOND_LOOK")
    if not place:
        return
    seen = [str(what) for witness in witnesses for what in witness()]
    why = course(item).otherwise or "; ".join(seen[:3])
    if not why:
        try:
            record(item, last, Path(place))
        except OSError as error:
            why = f"record: {error}"
    last.user_properties.append((ANSWER, why))


def without_group(item: pytest.Item) -> str:
    """The test as pytest takes it as an argument. With --dist loadgroup,
    pytest-xdist adds its group."""
    mark = item.get_closest_marker("xdist_group")
    if mark is None or not item.config.getoption("loadgroup", False):
        return item.nodeid
    group = mark.args[0] if mark.args else mark.kwargs.get("name", "default")
    return item.nodeid.removesuffix(f"@{group}")


def name(item: pytest.Item) -> str:
    """With the folder, as in tests/flaky, and with the build."""
    build = os.environ.get("APPPOOL_BUILD")
    return f"{item.config.rootpath.name}/{without_group(item)}" \
        + (f" in {Path(build).name}" if build else "")


def record(item: pytest.Item, last: pytest.TestReport, place: Path) -> None:
    """What the second run needs, and what it would overwrite."""
    new = Path(tempfile.mkdtemp(prefix="new-", dir=place))
    try:
        fill(new, item, last)
        new.rename(place / new.name.replace("new-", "late-"))
    except OSError:
        shutil.rmtree(new, ignore_errors=True)
        raise


def fill(new: Path, item: pytest.Item, last: pytest.TestReport) -> None:
    failed = [f"---- {report.when}\n{report.longreprtext}"
              for report in course(item).failed]
    printed = [f"---- {title}\n{text}" for title, text in last.sections]
    texts = {
        "name": name(item), "suite": str(item.config.rootpath),
        "test": without_group(item), "output": "\n".join(failed + printed),
        "environment": "\n".join(f"{key}={value}" for key, value
                                 in sorted(os.environ.items())
                                 if key.startswith(ENVIRONMENT))}
    for file, text in texts.items():
        (new / file).write_text(f"{text}\n")
    for logs in course(item).logs:
        shutil.copytree(logs, new / "logs" / logs.name, dirs_exist_ok=True)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Also for the reports of other processes."""
    for report in sum(terminalreporter.stats.values(), []):
        for key, why in getattr(report, "user_properties", ()):
            if key == ANSWER:
                terminalreporter.write_line(
                    f"no second look - {report.nodeid}: {why}" if why else
                    f"late - {report.nodeid}: it runs once more at the end")
