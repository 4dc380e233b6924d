# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The status page of a real pool, as a browser shows it. APPPOOL_PICTURES=DIR
also takes pictures of it. test_status_script.py has what no real pool shows
soon."""
import os
import re
from pathlib import Path
from typing import Any, Optional

import pytest

from harness import npm
from harness.browser import PATIENT, Browser
from harness.cases import cases
from harness.httpd import STATUS, Held, Httpd
from harness.wait import wait_until

pytestmark = [pytest.mark.mpms("event"), pytest.mark.xdist_group("browser")]

# The width of the page.
REACH = """Math.max(document.documentElement.scrollWidth, ...Array.from(
    document.querySelectorAll('section, section > *, #drawer > *, td, button'),
    e => e.getBoundingClientRect().right))"""

SIZES = [(1200, False), (1000, True), (700, False), (390, False), (320, True)]

# The column of the names.
NAME_WIDTH = """document.querySelector('.apps th[scope=row]')
    .getBoundingClientRect().width"""


def url(httpd: Httpd, view: str = "") -> str:
    return f"http://127.0.0.1:{httpd.port}{STATUS}{view}"


def picture(browser: Browser, name: str) -> None:
    where: Optional[str] = os.environ.get("APPPOOL_PICTURES")
    if where:
        browser.picture(Path(where) / f"{name}.png")


def wait_for(browser: Browser, pattern: str) -> None:
    wait_until(lambda: re.search(pattern, browser.text(), re.S),
               f"the page says {pattern}")


def opened(browser: Browser, httpd: Httpd, view: str = "") -> None:
    """The page, as its script makes it."""
    browser.open("about:blank")  # another fragment alone loads nothing
    browser.open(url(httpd, view))
    wait_until(lambda: browser.run("!!document.getElementById('list')"),
               "the script has shown it")


def click(browser: Browser, what: str) -> None:
    browser.run(f"document.querySelector({what!r}).click()")


def names(browser: Browser) -> list[str]:
    """The applications that are shown, in order."""
    found: list[str] = browser.run(
        "Array.from(document.querySelectorAll('.apps th[scope=row] a'),"
        "a => a.textContent)")
    return found


@pytest.fixture
def busy(httpd: Httpd) -> Httpd:
    """A server whose status shows something."""
    httpd.directives += ["MaxPoolSize 4", *PATIENT]
    httpd.app("shop", "MaxInstances 3", "AppGroupName shop")
    httpd.app("blog", "MaxInstances 1", "AppGroupName blog")
    httpd.app("broken", "AppGroupName broken", command="/bin/false")
    httpd.app("fresh", "AppGroupName fresh")
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


def release(held: list[Held]) -> None:
    """Release all of them. It is unknown which one waits for which."""
    for one in held:
        one.go.touch()
    for one in held:
        one.release()


def test_hung(httpd: Httpd) -> None:
    """A hung process is visible at once, at any width."""
    httpd.directives += ["MaxPoolSize 2"]
    httpd.app("shop", "AppHungAfter 1", "AppSpawnIfUnder 1",
              "AppGroupName shop")
    httpd.start()
    held = [httpd.hold("shop", "a"), httpd.hold("shop", "b")]
    waiting = httpd.hold_async("shop", "c")
    for width, case in cases([1200, 390, 320]):
        with case, Browser(width, 900, width < 600) as browser:
            opened(browser, httpd)
            # The third one hangs a second later.
            wait_for(browser, r"2 \+ 1 extra processes \([01] busy, 0 idle, "
                     r"[23] hung\)")
            wait_for(browser, r"problem.*shop hung .*Totals|problem.*shop "
                     r"\s*hung.*extra processes")
            assert browser.run(REACH) <= width
            picture(browser, f"hung-{width}")
            assert browser.errors == []
    release([*held, waiting])


def test_page(busy: Httpd) -> None:
    """It shows what there is, breaks no rule, and fits the width. What is wrong
    comes first, and each application that is configured has a line."""
    held = load(busy)
    for (width, dark), case in cases(SIZES):
        with case, Browser(width, 900, dark) as browser:
            opened(browser, busy)
            wait_for(browser, r"problems.*broken\s+failing\s+it does not start"
                     r".*4 of 4 processes \(4 busy, 0 idle\).*3 waiting")
            assert sorted(names(browser)) == ["blog", "broken", "fresh", "shop"]
            assert names(browser)[-1] == "fresh"
            assert browser.run(NAME_WIDTH) > 75
            assert browser.run(REACH) <= width
            back = browser.run(
                "getComputedStyle(document.body).backgroundColor")
            assert (sum(map(int, re.findall(r"\d+", back))) < 380) == dark
            picture(browser, f"page-{width}-{'dark' if dark else 'light'}")
            click(browser, ".apps a[href*='app=shop']")
            wait_for(browser, r"GET /catalogue/2026/very.*Processes.*PID")
            assert browser.run(REACH) <= width
            assert width < 1000 or browser.run(NAME_WIDTH) > 75
            picture(browser, f"drawer-{width}-{'dark' if dark else 'light'}")
            assert browser.errors == []
    release(held)


def test_a_start_that_failed(busy: Httpd) -> None:
    """The error in full, the next try, and what root may do."""
    with Browser() as browser:
        opened(browser, busy, "#app=broken")
        wait_for(browser, r"The last start failed at .*\(error id [0-9a-f]{16}\)"
                 r".*exit code 1.*apppoolctl why broken.*apppoolctl logs broken")
        opened(browser, busy, "#app=fresh")
        wait_for(browser, "no request since httpd was started")
        opened(browser, busy, "#app=nosuch")
        wait_for(browser, "no application of this name any more")
        assert browser.errors == []


@pytest.mark.mpms("event")
def test_an_old_request_is_seen(httpd: Httpd) -> None:
    """P28: after five seconds its age has another colour."""
    httpd.app("shop", "AppGroupName shop")
    httpd.start()
    held = httpd.hold("shop", "a")
    with Browser() as browser:
        opened(browser, httpd, "#app=shop")
        age = "document.querySelector('.requests tbody td')?.className"
        wait_until(lambda: browser.run(age) == "n warn", "it is seen")
        assert httpd.status()["groups"][0]["requests"][0]["age"] > 5
    held.release()


def test_refresh(busy: Httpd) -> None:
    """New numbers appear by themselves, the settings of the user stay, and a
    page that is out of date says so."""
    with Browser(900, 300) as browser:
        opened(browser, busy)
        loads = browser.loads
        browser.run("document.getElementById('counts').open = true;"
                    "scrollTo(0, 150);"
                    "document.getElementById('sort-rate').focus("
                    "{preventScroll: true})")
        live = "document.getElementById('live').textContent"
        now = browser.run(live)
        wait_until(lambda: browser.run(live) != now, "the next document")
        assert browser.run("scrollY") == 150
        held = load(busy)
        wait_for(browser, "4 busy.*3 waiting")
        assert browser.run("document.getElementById('counts').open")
        assert browser.run("document.activeElement.id") == "sort-rate"
        release(held)
        wait_for(browser, r"\b0 waiting")
        assert browser.loads == loads and browser.errors == []
        # A user can copy a pid.
        browser.run("getSelection().selectAllChildren("
                    "document.getElementById('summary'))")
        said = browser.run("document.getElementById('summary').innerText")
        now = browser.run(live)
        busy.get("/pid", "blog")
        browser.run("new Promise(done => setTimeout(done, 3000))")
        assert browser.run(live) == now
        assert browser.run(
            "document.getElementById('summary').innerText") == said
        browser.run("getSelection().removeAllRanges()")
        wait_until(lambda: browser.run(live) != now, "it goes on")
        busy.stop()
        wait_for(browser, "no response since")
        busy.start()
        wait_for(browser, r"up \d\.\d s|up \d+ s")
        wait_until(lambda: not browser.run(
            "document.body.classList.contains('stale')"), "it goes on")


def test_without_scripts(busy: Httpd) -> None:
    """The page has a table of what is wrong and of the totals, and the browser
    itself reloads it."""
    with Browser(scripts=False) as browser:
        browser.open(url(busy))
        text = re.sub("<[^>]+>", " ", browser.html())
        assert re.search(r"broken\s+failing\s+it does not start", text)
        assert "1 of 4 processes (0 busy, 1 idle, 0 hung)" in text
        browser.loaded(browser.loads)
        assert browser.errors == []


def test_views(busy: Httpd) -> None:
    """Search, filter, order and fold. The URL has them, so a reload keeps
    them."""
    def type_in(text: str) -> None:
        browser.run("{const q = document.getElementById('q'); q.focus();"
                    f"q.value = {text!r};"
                    "q.dispatchEvent(new Event('input', {bubbles: true}))}")

    with Browser() as browser:
        opened(browser, busy)
        wait_until(lambda: len(names(browser)) == 4, "the list")
        type_in("B")
        wait_until(lambda: names(browser) == ["broken", "blog"], "found")
        assert browser.run("document.activeElement.id") == "q"
        assert browser.run("location.hash") == "#q=B"
        wait_for(browser, "2 of 4 applications")
        opened(browser, busy, "#q=B")
        assert names(browser) == ["broken", "blog"]
        assert browser.run("document.getElementById('q').value") == "B"
        type_in("nosuch")
        wait_for(browser, "No application matches")
        opened(browser, busy, "#state=unused")
        assert names(browser) == ["blog", "fresh"]
        opened(browser, busy, "#sort=-shown")
        click(browser, "#sort-shown")  # as configured
        wait_until(lambda: browser.run("location.hash") == "", "no order")
        click(browser, "#fold-running")
        wait_until(lambda: "shop" not in names(browser), "folded")
        assert browser.run("document.getElementById('fold-running')"
                           ".getAttribute('aria-expanded')") == "false"
        assert browser.run("location.hash") == "#open=-running"
        opened(browser, busy, browser.run("location.hash"))
        assert "shop" not in names(browser)
        assert browser.errors == []


def test_keyboard(busy: Httpd) -> None:
    """The drawer opens by a key, takes the focus, and gives it back."""
    with Browser(1200, 700) as browser:
        opened(browser, busy)
        focus = "document.activeElement.id || document.activeElement.textContent"
        wait_until(lambda: "shop" in names(browser), "the list")
        browser.run("document.querySelector(\".apps a[href*='app=shop']\")"
                    ".focus()")
        browser.key("Enter")
        wait_for(browser, "For root, at the server")
        assert browser.run(focus) == "drawer-name"
        assert browser.run("location.hash") == "#app=shop"
        browser.key("Tab")
        assert browser.run(focus) == "close"
        browser.key("Escape")
        wait_until(lambda: browser.run("document.getElementById('drawer')"
                                       ".hidden"), "closed")
        assert browser.run(focus) == "shop"
        browser.run("history.back()")
        wait_until(lambda: browser.run("location.hash") == "#app=shop"
                   and not browser.run("document.getElementById('drawer')"
                                       ".hidden"), "the step before")
        assert browser.errors == []


@pytest.mark.bound(300)
def test_accessible(busy: Httpd) -> None:
    """axe finds nothing: of the list, of a drawer, with problems, at both
    widths, light and dark."""
    axe = npm.axe()
    held = load(busy)
    rows = [(size, view) for size in ((1280, False), (390, True))
            for view in ("", "#app=shop", "#app=broken")]
    for ((width, dark), view), case in cases(rows):
        with case, Browser(width, 900, dark) as browser:
            opened(browser, busy, view)
            wait_for(browser, "For root" if view else "3 waiting")
            browser.run(axe + "; 0")
            assert broken_rules(browser) == []
    release(held)


def broken_rules(browser: Browser) -> list[str]:
    """The rules of axe that the page breaks, with the elements."""
    found: list[dict[str, Any]] = browser.run(
        "axe.run(document).then(r => r.violations.map(v => ({id: v.id, "
        "nodes: v.nodes.map(n => n.html + ' ' + n.failureSummary)})))")
    return [f"{one['id']}: {one['nodes'][:3]}" for one in found]


def test_headers(busy: Httpd) -> None:
    headers = busy.get(STATUS).headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy and "unsafe" not in policy
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert policy != busy.get(STATUS).headers["Content-Security-Policy"]
    assert len(busy.get(STATUS).body) <= 60000
    for response in (busy.get(f"{STATUS}?json"),
                     busy.get(f"{STATUS}?list"),
                     busy.post(STATUS, "status", b""),
                     busy.get(f"{STATUS}?metrics")):
        assert response.headers["Content-Security-Policy"] == (
            "default-src 'none'; base-uri 'none'; frame-ancestors 'none'")
        assert response.headers["Cache-Control"] == "no-store"
        assert response.headers["X-Content-Type-Options"] == "nosniff"
