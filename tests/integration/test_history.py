# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The checker of chaos_* and of tests/soak finds the mistakes that it is made
for."""
from pathlib import Path
from typing import Iterable

import pytest

from harness.history import Attempt, Death, History

ROOM = {"shop": 1, "blog": 2}


def tried(number: str, outcome: str = "200", port: int = 1, began: float = 1.0,
          ended: float = 2.0, reused: bool = False,
          text: str = "") -> Attempt:
    if outcome == "200" and not text:
        text = f"shop 11 {number}"
    return Attempt(number, "shop", port, reused, began, ended, outcome, text)


@pytest.fixture
def ledgers(tmp_path: Path) -> Path:
    return tmp_path


def work(ledgers: Path, *lines: str, name: str = "shop.11.0.5") -> None:
    with open(ledgers / name, "a") as file:
        file.write("".join(line + "\n" for line in lines))


def judged(ledgers: Path, attempts: Iterable[Attempt],
           *deaths: Death) -> History:
    return History(list(attempts), ledgers, deaths, ROOM)


def test_served(ledgers: Path) -> None:
    work(ledgers, "began 1.1 n1", "ended 1.2 n1")
    history = judged(ledgers, [tried("n1")])
    assert (history.served, history.lost, history.wrong) == (1, [], [])


@pytest.mark.parametrize("lines", [
    [], ["began 1.1 n1"], ["began 1.1 n1", "ended 2.5 n1"],
    ["began 0.9 n1", "ended 1.2 n1"]],
    ids=["nobody", "never ended", "too late", "too early"])
def test_response_that_no_process_sent(ledgers: Path, lines: list[str]) -> None:
    work(ledgers, *lines)
    assert judged(ledgers, [tried("n1")]).wrong


def test_served_by_another(ledgers: Path) -> None:
    work(ledgers, "began 1.1 n1", "ended 1.2 n1", name="shop.12.0.5")
    assert judged(ledgers, [tried("n1")]).wrong
    assert judged(ledgers, [tried("n1", text="blog 12 n1")]).wrong
    assert judged(ledgers, [tried("n1", text="shop 12 n2")]).wrong


def test_done_twice(ledgers: Path) -> None:
    for name in ("shop.11.0.5", "shop.12.0.5"):
        work(ledgers, "began 1.1 n1", "ended 1.2 n1", name=name)
    assert judged(ledgers, [tried("n1")]).wrong


def test_work_without_a_request(ledgers: Path) -> None:
    work(ledgers, "began 1.1 n1", "ended 1.2 n1")
    assert judged(ledgers, []).wrong


def test_two_at_once(ledgers: Path) -> None:
    lines = ["began 1.1 n1", "began 1.2 n2", "ended 1.3 n1", "ended 1.4 n2"]
    work(ledgers, *lines)
    assert judged(ledgers, [tried("n1"), tried("n2")]).wrong
    work(ledgers, *lines, name="blog.12.0.5")
    shared = [tried(number)._replace(host="blog", text=f"blog 12 {number}")
              for number in ("n1", "n2")]
    (ledgers / "shop.11.0.5").unlink()
    assert not judged(ledgers, shared).wrong


def test_an_orphan_holds_no_place(ledgers: Path) -> None:
    """Its client was inside a killed child of httpd. The app still works on
    it."""
    work(ledgers, "began 1.1 n1", "began 1.5 n2", "ended 1.6 n2",
         "ended 1.7 n1")
    history = judged(ledgers, [tried("n1", "closed", port=7), tried("n2")],
                     Death("child", 5, 1.3, 1.4, ports={7}))
    assert not history.lost + history.wrong
    assert history.inside == {"child": 1}


@pytest.mark.parametrize("outcome", ["502", "503", "closed", "cut", "late"])
def test_failed_for_no_reason(ledgers: Path, outcome: str) -> None:
    assert judged(ledgers, [tried("n1", outcome)],
                  Death("spawner", 5, 1.3, 1.4)).lost


@pytest.mark.parametrize("death", [
    Death("child", 5, 1.3, 1.4, ports={8}),
    Death("child", 5, 0.3, 0.4, ports={7}),
    Death("child", 5, 2.3, 2.4, ports={7}),
    Death("app", 11, 1.3, 1.4, app="shop")],
    ids=["another's", "before", "afterwards", "of an app"])
def test_closed_by_no_child(ledgers: Path, death: Death) -> None:
    assert judged(ledgers, [tried("n1", "closed", port=7)], death).lost


@pytest.mark.parametrize("death", [
    Death("app", 12, 1.3, 1.4, app="shop"),
    Death("app", 11, 1.3, 1.4, app="blog"),
    Death("app", 11, 0.3, 0.4, app="shop"),
    Death("child", 5, 1.3, 1.4, ports={1})],
    ids=["another", "another app's", "before", "a child"])
def test_502_without_an_app(ledgers: Path, death: Death) -> None:
    work(ledgers, "began 1.1 n1")
    assert judged(ledgers, [tried("n1", "502")], death).lost


def test_502s_of_one_death(ledgers: Path) -> None:
    """No more than it had room for. The one on which it had begun to work
    comes first."""
    work(ledgers, "began 1.1 n2")
    death = Death("app", 11, 1.3, 1.4, app="shop")
    history = judged(ledgers, [tried("n1", "502"), tried("n2", "502")], death)
    assert history.inside == {"app": 1}
    assert len(history.lost) == 1 and "n1" in history.lost[0]


def test_sent_again(ledgers: Path) -> None:
    """An idle connection was closed, so the request is sent again. But no
    process may have begun to work on it."""
    both = [tried("n1", "closed", reused=True), tried("n1r")]
    work(ledgers, "began 1.1 n1r", "ended 1.2 n1r")
    history = judged(ledgers, both)
    assert history.stale == 1 and not history.lost + history.wrong
    assert judged(ledgers, both[:1]).lost
    work(ledgers, "began 1.1 n1", "ended 1.2 n1", name="shop.12.0.5")
    assert judged(ledgers, both).lost
