# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The status page, as a browser shows it. APPPOOL_PICTURES=DIR also takes
pictures of it."""
import os
import re
from pathlib import Path
from typing import Any, Optional

import pytest

from harness.browser import Browser
from harness.httpd import STATUS, Held, Httpd
from harness.wait import wait_until

pytestmark = [pytest.mark.mpms("event"), pytest.mark.xdist_group("browser")]

# The width of the page.
REACH = """Math.max(document.documentElement.scrollWidth, ...Array.from(
    document.querySelectorAll('section, section > *, td, button'),
    e => e.getBoundingClientRect().right))"""

# The number of lines that the name of an app takes, beside its events.
LINES = """Math.max(...Array.from(document.querySelectorAll('#events td'),
    e => e.getBoundingClientRect().height)) / 21"""


def url(httpd: Httpd) -> str:
    return f"http://127.0.0.1:{httpd.port}{STATUS}"


def picture(browser: Browser, name: str) -> None:
    where: Optional[str] = os.environ.get("APPPOOL_PICTURES")
    if where:
        browser.picture(Path(where) / f"{name}.png")


@pytest.fixture
def busy(httpd: Httpd) -> Httpd:
    """A server whose status shows something."""
    # A browser may take longer than the usual limits to show a page.
    httpd.directives += ["MaxPoolSize 4", "AppHungAfter 5min",
                         "AppQueueTimeout 5min"]
    httpd.app("shop", "MaxInstances 3", "AppGroupName shop")
    httpd.app("blog", "MaxInstances 1", "AppGroupName blog")
    httpd.app("broken", "AppGroupName broken", command="/bin/false")
    httpd.start()
    httpd.log.expect("could not be started", "did not start: error")
    assert httpd.get("/", "broken").status == 502
    for _ in range(20):
        httpd.get("/pid", "shop")
    return httpd


def load(httpd: Httpd) -> list[Held]:
    """Every process is busy, and some requests wait."""
    path = "/catalogue/2026/" + "very-long-name-without-a-break" * 3 + "/hold"
    held = [httpd.hold("shop", "a", path), httpd.hold("shop", "b"),
            httpd.hold("shop", "c"), httpd.hold("blog", "d")]
    held += [httpd.hold_async("blog", f"w{n}") for n in range(3)]
    httpd.settles(active=4, count=4, waiting=3)
    return held


@pytest.mark.parametrize("width", [1200, 390, 320])
def test_hung(httpd: Httpd, width: int) -> None:
    """A hung process is visible at once."""
    httpd.directives += ["MaxPoolSize 2", f'<Location "{STATUS}">\n'
                         "AppStatusAllowActions On\n</Location>"]
    httpd.app("shop", "AppHungAfter 1", "AppSpawnIfUnder 1")
    httpd.start()
    with Browser(width, 900, width < 600) as browser:
        held = [httpd.hold("shop", "a"), httpd.hold("shop", "b")]
        waiting = httpd.hold_async("shop", "c")
        browser.open(url(httpd))
        # The third one hangs a second later.
        wait_until(lambda: re.search(
            r"2 \+ 1 extra processes \([01] busy, 0 idle, [23] hung\)",
            browser.text()), "it is seen")
        assert browser.run("document.querySelectorAll('.s.hung').length") >= 4
        assert browser.run(REACH) <= width
        assert browser.run(LINES) <= 3
        picture(browser, f"hung-{width}")
        assert browser.errors == []
    release([*held, waiting])


def release(held: list[Held]) -> None:
    """Release all of them. It is unknown which one waits for which."""
    for one in held:
        one.go.touch()
    for one in held:
        one.release()


@pytest.mark.parametrize("width,dark", [
    (1200, False), (1200, True), (390, False), (320, True)])
def test_page(busy: Httpd, width: int, dark: bool) -> None:
    """It shows what there is, breaks no rule, and fits the width."""
    with Browser(width, 900, dark) as browser:
        held = load(busy)
        browser.open(url(busy))
        text = browser.text()
        assert "4 of 4 processes (4 busy, 0 idle)" in text
        assert "3 waiting" in text
        assert "shop" in text and "GET /hold" in text
        assert "The last start failed" in text
        assert browser.run(REACH) <= width
        back = browser.run("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", back))) < 380) == dark, back
        picture(browser, f"page-{width}-{'dark' if dark else 'light'}")
        assert browser.errors == []
    release(held)


def test_refresh(busy: Httpd) -> None:
    """New numbers appear by themselves, and the settings of the user stay."""
    with Browser(900, 300) as browser:
        browser.open(url(busy))
        loads = browser.loads
        browser.run("document.getElementById('counts').open = true;"
                    "scrollTo(0, 150)")
        wait_until(lambda: "1 idle" in browser.text(), "one is free")
        held = load(busy)
        wait_until(lambda: re.search("4 busy.*3 waiting",
                                     browser.text(), re.S), "it is shown")
        assert browser.run("document.getElementById('counts').open")
        assert browser.run("scrollY") == 150
        assert browser.loads == loads and browser.errors == []
        release(held)
        wait_until(lambda: "0 waiting" in browser.text(), "shown")


def test_selected_text_stays(busy: Httpd) -> None:
    """A user can copy a pid, although the page is refreshed."""
    with Browser() as browser:
        browser.open(url(busy))
        browser.run("getSelection().selectAllChildren("
                    "document.getElementById('summary'))")
        busy.get("/pid", "blog")
        live = browser.run("document.getElementById('live').textContent")
        browser.run("new Promise(done => setTimeout(done, 3000))")
        assert "2 of 4" not in browser.text()
        assert browser.run(
            "document.getElementById('live').textContent") == live
        browser.run("getSelection().removeAllRanges()")
        wait_until(lambda: "2 of 4" in browser.text(), "it goes on")


def test_no_response(busy: Httpd) -> None:
    """A page that is out of date says so."""
    with Browser() as browser:
        browser.open(url(busy))
        busy.stop()
        wait_until(lambda: "no response since" in browser.text(), "it says so")


def test_without_scripts(busy: Httpd) -> None:
    """The page is complete, and the browser itself reloads it."""
    with Browser(scripts=False) as browser:
        browser.open(url(busy))
        assert "of 4 processes" in re.sub("<[^>]+>", "", browser.html())
        browser.loaded(browser.loads)
        assert browser.errors == []


def test_history_is_drawn(busy: Httpd) -> None:
    """If no request has ended, it shows no time, and not 0."""
    def history() -> list[dict[str, Any]]:
        return busy.status()["history"]

    wait_until(history, "a sample that counts from another one")
    for _ in range(20):
        busy.get("/pid", "shop")
    wait_until(lambda: max(sample["rate"] for sample in history()) > 0
               and history()[-1]["latency"] is None, "and others")
    with Browser() as browser:
        browser.open(url(busy))
        assert re.search(r"Response time\s*\u2013", browser.text())
        boxes = browser.run(
            "Array.from(document.querySelectorAll('svg .line'),"
            "p => p.getBBox()).map(b => [b.x, b.y, b.width, b.height])")
        assert len(boxes) == 3
        rate = boxes[0]
        assert rate[2] > 0 and rate[3] > 10
        assert all(b[0] >= 0 and b[0] + b[2] <= 241 and b[1] >= 0
                   and b[1] + b[3] <= 40 for b in boxes), boxes


def test_markup_in_a_request(busy: Httpd) -> None:
    """It is text. It runs nothing, and has no effect on a terminal."""
    bad = ("/%3Cimg%20src=x%20onerror=%22document.title='owned'%22%3E"
           "%01%0A%1B[31m%7F%C2%9B%C3%A9/hold")
    held = busy.hold("shop", "m", bad)
    with Browser() as browser:
        browser.open(url(busy))
        text = browser.text()
        assert "<img src=x onerror=" in text
        assert ">???[31m???\u00e9/hold" in text
        assert browser.run("document.images.length") == 0
        assert browser.run("document.title") != "owned"
        assert browser.errors == []
    text = busy.get(STATUS).text
    assert "<img" not in text and text.replace("\n", "").isprintable()
    held.release()


def test_headers(busy: Httpd) -> None:
    headers = busy.get(STATUS).headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy and "unsafe" not in policy
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert policy != busy.get(STATUS).headers["Content-Security-Policy"]
    for response in (busy.get(f"{STATUS}?json"),
                     busy.post(STATUS, "status", b""),
                     busy.get(f"{STATUS}?metrics")):
        assert response.headers["Content-Security-Policy"] == (
            "default-src 'none'; base-uri 'none'; frame-ancestors 'none'")
        assert response.headers["Cache-Control"] == "no-store"
        assert response.headers["X-Content-Type-Options"] == "nosniff"
