# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Headless Chromium, controlled over its debugging pipe: JSON, NUL, JSON."""
import base64
import json
import os
import shutil
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any, Optional, Type

from harness.wait import wait_until

# Directives: a browser may take longer than the usual limits.
PATIENT = ("AppHungAfter 5min", "AppQueueTimeout 5min", "AppTimeout 5min")
BOUND = 60  # seconds for a response; its start takes the longest


class Chromium:
    """The program. Its start takes some seconds of CPU time, so the tests of a
    module share one (browser.shared)."""

    def __init__(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="chromium-"))
        self.n = 0
        self.rest = b""
        self.browsers: dict[str, "Browser"] = {}  # by session
        theirs, self.to = os.pipe()
        self.back, responses = os.pipe()
        try:
            self.process = subprocess.Popen(
                ["bash", "-c", f'exec "$@" 3<&{theirs} 4>&{responses}', "-",
                 "chromium", "--headless=new", "--no-sandbox",
                 "--disable-gpu", "--disable-dev-shm-usage",
                 "--no-first-run", "--no-proxy-server", "--hide-scrollbars",
                 "--disable-lcd-text",
                 "--disable-background-networking",
                 "--remote-debugging-pipe", f"--user-data-dir={self.home}"],
                pass_fds=[theirs, responses], stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                env={**os.environ, "HOME": str(self.home)},
                start_new_session=True)
        finally:
            os.close(theirs)
            os.close(responses)
        os.set_blocking(self.back, False)

    def receive(self) -> list[dict[str, Any]]:
        """Read what has come: responses, and events, which are recorded."""
        try:
            self.rest += os.read(self.back, 1 << 20)
        except BlockingIOError:
            pass
        *whole, self.rest = self.rest.split(b"\0")
        messages = [json.loads(text) for text in whole]
        for message in messages:
            browser = self.browsers.get(message.get("sessionId", ""))
            if browser and "method" in message:
                browser.note(message)
        return [message for message in messages if "id" in message]

    def send(self, session: str, method: str, **params: Any) -> int:
        self.n += 1
        message = {"id": self.n, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        return self.n

    def call(self, session: str, method: str, **params: Any
            ) -> dict[str, Any]:
        number = self.send(session, method, **params)
        found: list[dict[str, Any]] = []

        def came() -> bool:
            assert self.process.poll() is None, "chromium ended"
            found.extend(message for message in self.receive()
                         if message["id"] == number)
            return bool(found)

        wait_until(came, "chromium responds", BOUND)
        assert "error" not in found[0], found[0]
        return found[0]["result"]

    def end(self) -> None:
        os.close(self.to)  # this ends it
        try:
            self.process.wait(40)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, 9)
            self.process.wait()
        os.close(self.back)
        shutil.rmtree(self.home, ignore_errors=True)


@lru_cache(maxsize=None)
def shared() -> Chromium:
    """The first caller starts it, and conftest ends it."""
    return Chromium()


class Browser:
    """with Browser(width=390, dark=True) as browser: browser.open(url)
    A window that shares nothing with other windows."""

    def __init__(self, width: int = 1200, height: int = 900,
                 dark: bool = False, scripts: bool = True) -> None:
        self.chromium = shared()
        self.errors: list[str] = []  # of scripts and of the policy
        self.loads = 0  # pages that were loaded
        self.trace: list[dict[str, Any]] = []  # events, of tasks()
        self.traced = True  # all of them have come
        call = self.chromium.call
        self.context = call("", "Target.createBrowserContext")[
            "browserContextId"]
        target = call("", "Target.createTarget", url="about:blank",
                      browserContextId=self.context)
        self.session = call("", "Target.attachToTarget", flatten=True,
                            targetId=target["targetId"])["sessionId"]
        self.chromium.browsers[self.session] = self
        for domain in ("Page", "Runtime", "Log"):
            self.page(f"{domain}.enable")
        self.page("Emulation.setDeviceMetricsOverride", width=width,
                  height=height, deviceScaleFactor=1, mobile=width < 600)
        self.page("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme",
             "value": "dark" if dark else "light"}])
        self.page("Emulation.setScriptExecutionDisabled", value=not scripts)

    def note(self, message: dict[str, Any]) -> None:
        kind, more = message["method"], message["params"]
        if kind == "Page.loadEventFired":
            self.loads += 1
        elif kind == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(more["exceptionDetails"]))
        elif kind == "Log.entryAdded" and more["entry"]["level"] == "error":
            self.errors.append(more["entry"]["text"])
        elif kind == "Tracing.dataCollected":
            self.trace += more["value"]
        elif kind == "Tracing.tracingComplete":
            self.traced = True
        elif kind == "Page.javascriptDialogOpening":
            self.chromium.send(self.session, "Page.handleJavaScriptDialog",
                               accept=True)

    def page(self, method: str, **params: Any) -> dict[str, Any]:
        return self.chromium.call(self.session, method, **params)

    # ---- pages

    def open(self, url: str) -> None:
        before = self.loads
        self.page("Page.navigate", url=url)
        self.loaded(before)

    def loaded(self, before: int) -> None:
        """Wait until more pages than these were loaded."""
        wait_until(lambda: self.chromium.receive() is not None
                   and self.loads > before, "the page is loaded", BOUND)

    def run(self, script: str) -> Any:
        """The value of an expression, or of its promise."""
        done = self.page("Runtime.evaluate", expression=script,
                         returnByValue=True, awaitPromise=True,
                         userGesture=True)
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    def trace_tasks(self) -> None:
        """Begin to record tasks."""
        self.trace, self.traced = [], False
        self.page("Tracing.start", transferMode="ReportEvents",
                  categories="toplevel,disabled-by-default-devtools.timeline")

    def tasks(self) -> list[float]:
        """CPU times of all tasks of the page's main thread since then, the
        longest first, in seconds."""
        self.page("Tracing.end")
        wait_until(lambda: self.chromium.receive() is not None and self.traced,
                   "the trace is complete", BOUND)
        mains = {(one["pid"], one["tid"]) for one in self.trace
                 if one["name"] == "thread_name"
                 and one["args"]["name"] == "CrRendererMain"}
        return sorted((one["tdur"] / 1e6 for one in self.trace
                       if one["name"].endswith("RunTask") and "tdur" in one
                       and (one["pid"], one["tid"]) in mains), reverse=True)

    def before(self, script: str) -> None:
        """A script that runs in each page before those of the page."""
        self.page("Page.addScriptToEvaluateOnNewDocument", source=script)

    def key(self, key: str) -> None:
        """Press a key that has a name, such as Tab."""
        codes = {"Tab": 9, "Enter": 13, "Escape": 27}
        more = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.page("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      windowsVirtualKeyCode=codes.get(key, 0),
                      **(more if kind == "keyDown" else {}))

    def point(self, x: float, y: float) -> None:
        """Move the mouse."""
        self.page("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def text(self) -> str:
        return self.run("document.body.innerText")

    def html(self) -> str:
        """It also works with scripts disabled."""
        root = self.page("DOM.getDocument")["root"]["nodeId"]
        return self.page("DOM.getOuterHTML", nodeId=root)["outerHTML"]

    def picture(self, path: Path, height: Optional[int] = None) -> None:
        """A picture of the whole page, or of its upper part."""
        clip = {} if height is None else {"clip": {
            "x": 0, "y": 0, "width": self.run("innerWidth"), "height": height,
            "scale": 1}}
        shot = self.page("Page.captureScreenshot", captureBeyondViewport=True,
                         **clip)
        path.write_bytes(base64.b64decode(shot["data"]))

    # ---- end

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]],
                 error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        del self.chromium.browsers[self.session]
        self.chromium.call("", "Target.disposeBrowserContext",
                           browserContextId=self.context)
