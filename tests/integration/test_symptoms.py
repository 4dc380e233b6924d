# Licensed under the Apache License, Version 2.0; see LICENSE.
"""doc/symptoms.md: each row of its table is made in a real httpd. Then the
problems of the status and the sentences of `apppoolctl why` are compared with
the row. Numbers, ids and places may differ."""
import os
import re
import shutil
import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable

import pytest

from harness import sentences
from harness.config import App
from harness.httpd import Held, Httpd
from harness.places import TOP
from harness.procs import kill9
from harness.space import Space
from harness.store import running
from harness.wait import wait_until
from test_killed import freeze, freezer, limit
from until import Missed

pytestmark = pytest.mark.mpms("event")

PAGE = TOP / "doc" / "symptoms.md"
HEAD = "| symptom | state and problem on the page | what `why` says |"
NOTHING = "&ndash;"


@dataclass
class Row:
    symptom: str
    page: str
    why: str


def rows() -> dict[str, Row]:
    table = PAGE.read_text().split(HEAD)[1].split("\n\n")[0]
    found = [Row(*(cell.strip() for cell in line.strip("|").split(" | ")))
             for line in table.strip().splitlines()[1:]]
    assert len({row.symptom for row in found}) == len(found)
    return {row.symptom: row for row in found}


# ---- how a symptom is made

@dataclass
class Scene:
    httpd: Httpd
    held: list[Held] = field(default_factory=list)
    pending: list[Any] = field(default_factory=list)
    stuck: list[App] = field(default_factory=list)

    def hold(self, app: App) -> None:
        key = f"{app.name}{len(self.held)}"
        self.held.append(self.httpd.hold(app.name, key))

    def wait(self, app: App) -> None:
        """A request that is not answered soon."""
        self.pending.append(self.httpd.get_async("/pid", app.name))

    def wait_in_vain(self, app: App) -> None:
        self.wait(app)
        self.stuck.append(app)

    def end(self) -> None:
        for app in self.stuck:
            assert self.httpd.ctl("drain", app.name).returncode == 0
        for held in self.held:
            held.go.touch()
        (self.httpd.dir / "boot").touch()
        for pending in (*self.pending, *(one.pending for one in self.held)):
            pending.result()


@dataclass
class Symptom:
    directives: tuple[str, ...] = ()
    command: str = ""
    before: Callable[[Httpd, App], None] = lambda httpd, app: None
    act: Callable[[Scene, App], None] = lambda scene, app: None


def ask(scene: Scene, app: App) -> None:
    scene.httpd.get("/pid", app.name)


def ask_often(*paths: str) -> Callable[[Scene, App], None]:
    def act(scene: Scene, app: App) -> None:
        for _ in range(6):
            for path in paths:
                scene.httpd.get(path, app.name)
    return act


def hold_and_wait(scene: Scene, app: App) -> None:
    scene.hold(app)
    scene.wait(app)


def close_root(httpd: Httpd, app: App) -> None:
    app.root.chmod(0o700)


def remove_root(scene: Scene, app: App) -> None:
    shutil.rmtree(app.root)
    ask(scene, app)


def no_program(httpd: Httpd, app: App) -> None:
    app.put({"serve": "#!/bin/sh\n"})
    (app.root / "serve").chmod(0o644)


def new_code_fails(scene: Scene, app: App) -> None:
    ask(scene, app)
    (scene.httpd.dir / "fail").touch()
    assert scene.httpd.ctl("restart", app.name, "--rolling").returncode == 0


def replace_busy(scene: Scene, app: App) -> None:
    scene.hold(app)
    assert scene.httpd.ctl("restart", app.name, "--rolling").returncode == 0


def start_by_hand(scene: Scene, app: App) -> None:
    assert scene.httpd.ctl("start", app.name).returncode == 0


def all_at_once(scene: Scene, app: App, path: str) -> None:
    """Requests that end with an error."""
    for one in [scene.httpd.get_async(path, app.name) for _ in range(6)]:
        one.result()


def lose_to_kill(scene: Scene, app: App) -> None:
    all_at_once(scene, app, "/sleep?s=60")


def wait_too_long(scene: Scene, app: App) -> None:
    scene.hold(app)
    all_at_once(scene, app, "/pid")


def drain(scene: Scene, app: App) -> None:
    assert scene.httpd.ctl("drain", app.name).returncode == 0


def hold_one_of_two(scene: Scene, app: App) -> None:
    wait_until(lambda: len(scene.httpd.pids(app, "idle")) == 2, "two of them")
    scene.hold(app)


SLOW = ("AppSetEnv BOOT_IF {dir}/boot",)
HUNG = ("MaxInstances 1", "AppHungAfter 1s")
SYMPTOMS = {
    "nobody has asked for it yet": Symptom(),
    "all is well": Symptom(act=ask),
    "its processes were idle and have ended": Symptom(
        ("PoolIdleTime 1s", "MinInstances 0"), act=ask),
    "its command does not exist": Symptom(
        command="/srv/bin/server", act=ask),
    "its command may not be executed": Symptom(
        command="./serve", before=no_program, act=ask),
    "it ends with an error": Symptom(
        command="/bin/sh -c 'echo no database; exit 3'", act=ask),
    "it goes to the background": Symptom(
        command="/bin/sh -c 'exit 0'", act=ask),
    "its AppRoot was removed": Symptom(act=remove_root),
    "its user may not enter AppRoot": Symptom(
        ("AppUser games",), before=close_root),
    "its AppEnvFile is missing": Symptom(
        ("AppEnvFile {dir}/none.env",), act=ask),
    "it listens somewhere else": Symptom(
        command="/usr/bin/python3 -IS -m http.server --bind 127.0.0.1 0",
        act=Scene.wait_in_vain),
    "its start lasts long, and requests wait": Symptom(SLOW, act=Scene.wait),
    "its start lasts long": Symptom(SLOW, act=start_by_hand),
    "new code does not start": Symptom(
        ("AppSetEnv BOOT_FAIL_IF {dir}/fail",), act=new_code_fails),
    "old code still has requests": Symptom(
        ("MaxInstances 2",), act=replace_busy),
    "all its processes are busy": Symptom(
        ("MaxInstances 1",), act=hold_and_wait),
    "its queue is full": Symptom(
        ("MaxInstances 1", "AppMaxQueue 1"), act=hold_and_wait),
    "its only process hangs": Symptom(HUNG, act=Scene.hold),
    "its only process hangs, and requests wait": Symptom(
        HUNG, act=hold_and_wait),
    "one of its processes hangs": Symptom(
        ("MinInstances 2", "MaxInstances 2", "AppPreStart On",
         "AppHungAfter 1s"), act=hold_one_of_two),
    "it is drained": Symptom(act=drain),
    "its processes die": Symptom(act=ask_often("/pid", "/crash")),
    "each of its processes dies at once": Symptom(act=ask_often("/crash")),
    "it answers with errors": Symptom(act=ask_often("/status?code=500")),
    "its answers are no HTTP": Symptom(act=ask_often("/garbage")),
    "its requests are killed": Symptom(
        ("AppHungAfter 1", "AppKillAfter 1", "AppHungStopTimeout 1"),
        act=lose_to_kill),
    "its requests wait for too long": Symptom(
        ("MaxInstances 1", "AppQueueTimeout 1s"), act=wait_too_long),
}


# ---- what is compared

def plain(text: str, httpd: Httpd) -> str:
    """Without numbers, ids and places."""
    text = re.sub(rf"{httpd.dir}/shop[a-z]*", "/srv/shop", text)
    text = text.replace(str(httpd.dir), "/srv")
    text = re.sub(r"\bshop[a-z]+\b", "shop", text)
    text = re.sub(r"\b(the user |u:)games\b", r"\1shop", text)
    text = re.sub(r"\b[0-9a-f]{16}\b", "ID", text)
    return re.sub(r"\b\d+(\.\d+)*\b", "N", text)


def unmarked(cell: str) -> str:
    return cell.replace("`", "").replace("\\_", "_")


def page_of(httpd: Httpd, app: App | None) -> list[str]:
    """STATE: TEXT of each problem of the app (or KIND: TEXT of the host); STATE
    if there is none."""
    report = httpd.status()
    all_ = report["problems"]
    if app is None:
        return [f"{p['kind']}: {p['text']}" for p in all_ if not p["app"]]
    states = [g["state"] for g in report["groups"]
              if g["app_root"] == str(app.root)] or ["unused"]
    name, = [one["name"] for one in report["configured"]
             if one["app_root"] == str(app.root)]
    return [f"{states[0]}: {p['text']}" for p in all_
            if p["app"] == name] or states


def is_so(httpd: Httpd, row: Row, app: App | None, name: str) -> str:
    """The difference between the row and what is shown; "" if there is none.
    Without an app, the problem is one of the host."""
    page = [plain(one, httpd) for one in page_of(httpd, app)]
    done = httpd.ctl("why", name)
    why = [plain(line.strip().removeprefix("apppoolctl: "), httpd)
           for line in (done.stdout + done.stderr).splitlines()]
    wanted = plain(unmarked(row.page), httpd)
    wrong = [wanted] if wanted not in (NOTHING, *page) else []
    said = plain(unmarked(row.why), httpd).split("<br>")
    if ": " in wanted and done.returncode != 3:
        who = "shop" if app else "this host"
        said.append(f"{who}: {wanted.partition(': ')[2]}")
    wrong += [line for line in said if line not in why]
    return f"{row.symptom}: {wrong} is not in {page} {why}" if wrong else ""


def difference(httpd: Httpd, symptom: str, app: App | None,
               name: str = "") -> str:
    """Wait until the row is so."""
    row = rows()[symptom]
    name = name or (app.name if app else httpd.apps[0].name)
    try:
        wait_until(lambda: not is_so(httpd, row, app, name), symptom, 120)
    except Missed:
        return is_so(httpd, row, app, name)
    return ""


def letters(n: int) -> str:
    return chr(ord("a") + n // 26) + chr(ord("a") + n % 26)


def make(httpd: Httpd, symptoms: dict[str, Symptom]) -> dict[str, App]:
    apps = {}
    for n, (symptom, how) in enumerate(symptoms.items()):
        directives = [one.format(dir=httpd.dir) for one in how.directives]
        app = httpd.app(f"shop{letters(n)}", *directives, command=how.command)
        how.before(httpd, app)
        apps[symptom] = app
    return apps


def test_applications(httpd: Httpd) -> None:
    """Most rows, each by an application of its own in one httpd."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR,
                     sentences.WRONG_PORT, sentences.SLOW,
                     sentences.ROOT_UNUSABLE, sentences.DRAINED,
                     sentences.DIED, sentences.NO_RESPONSE,
                     sentences.ODD_RESPONSE, sentences.KILLED_NO_RESPONSE,
                     sentences.QUEUE_LATE)
    httpd.directives[1:] = ["MaxPoolSize 60"]
    scene = Scene(httpd)
    apps = make(httpd, SYMPTOMS)
    httpd.start()
    try:
        for symptom, app in apps.items():
            SYMPTOMS[symptom].act(scene, app)
        found = [difference(httpd, symptom, app)
                 for symptom, app in apps.items()]
        assert [one for one in found if one] == []
    finally:
        scene.end()


def test_pool(httpd: Httpd) -> None:
    """Rows about the pool and the host."""
    httpd.directives[1:] = ["MaxPoolSize 1"]
    shop, blog = httpd.app("shopaa"), httpd.app("shopbb")
    scene = Scene(httpd)
    httpd.start()
    try:
        assert httpd.ctl("out").returncode == 0
        scene.hold(shop)
        scene.wait(blog)
        assert [one for one in (
            difference(httpd, "it gets no process, because others have all",
                       blog),
            difference(httpd, "all processes of the host are busy", None),
            difference(httpd, "the host is out of its load balancer", None))
            if one] == []
    finally:
        scene.end()


def test_programs(httpd: Httpd) -> None:
    """Rows about the store and the spawner: httpd and the watchdog are stopped,
    so nobody starts another one."""
    httpd.log.expect(sentences.SPAWNER_KILLED, sentences.STORE_KILLED,
                     sentences.HELPER_HANGS, sentences.WATCHDOG_KILLED)
    shop = httpd.app("shop", "AppStore 8M", "AppStoreMaxConnections 1")
    httpd.start()
    space = Space(httpd, shop.name)
    stopped = [httpd.pid, httpd.helper("watchdog")]
    try:
        found = [difference(httpd, "its name is wrong", shop, "shpo"),
                 difference(httpd, "the store refuses connections", None)]
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        kill9(running(httpd))
        found.append(difference(httpd, "the store is dead", None))
        kill9(httpd.spawner_now())
        found.append(difference(httpd, "the spawner is dead", None))
        assert [one for one in found if one] == []
    finally:
        space.close()
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)


def test_kernel(httpd: Httpd, freezer: Path) -> None:
    """A process that the kernel does not let go."""
    httpd.log.expect(sentences.SLOW, sentences.KILLED_NO_RESPONSE,
                     sentences.NO_TERM, sentences.IS_UNKILLABLE,
                     sentences.UNKILLABLES, sentences.REPORT_LATE)
    shop = httpd.app("shop", "AppMaxUnkillable 0")
    httpd.start()
    held = httpd.hold("shop", "a")
    freeze(freezer, held.pid)
    limit(httpd, shop)
    assert difference(httpd, "its process survives SIGKILL", shop) == ""
    (freezer / "freezer.state").write_text("THAWED")
    assert held.pending.result().status == 504


def test_each_row_has_a_test() -> None:
    """The other tests of this file make each row of the table."""
    source = Path(__file__).read_text()
    assert [row for row in rows() if f'"{row}"' not in source] == []
    assert len(rows()) >= 25
