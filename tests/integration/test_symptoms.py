# Licensed under the Apache License, Version 2.0; see LICENSE.
"""doc/symptoms.md: each row of its table is made in a real httpd. Then the
problems of the status and the sentences of `apppoolctl why` are compared with
the row. Numbers, ids and places may differ."""
import json
import re
import shutil
from dataclasses import dataclass, field
from typing import Any, Callable

import pytest

from harness import sentences
from harness.config import App
from harness.httpd import Held, Httpd
from harness.places import TOP
from harness.wait import wait_until
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


def ask_often(path: str) -> Callable[[Scene, App], None]:
    def act(scene: Scene, app: App) -> None:
        for _ in range(6):
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
}


# ---- what is compared

def plain(text: str, httpd: Httpd) -> str:
    """Without numbers, ids and places."""
    text = re.sub(rf"{httpd.dir}/shop[a-z]+", "/srv/shop", text)
    text = text.replace(str(httpd.dir), "/srv")
    text = re.sub(r"\bshop[a-z]+\b", "shop", text)
    text = re.sub(r"\b(the user |u:)games\b", r"\1shop", text)
    text = re.sub(r"\b[0-9a-f]{16}\b", "ID", text)
    return re.sub(r"\b\d+(\.\d+)*\b", "N", text)


def unmarked(cell: str) -> str:
    return cell.replace("`", "").replace("\\_", "_")


def page_of(httpd: Httpd, app: App | None) -> list[str]:
    """STATE: TEXT of each problem of the app (or of the host); STATE if there
    is none."""
    all_ = json.loads(httpd.ctl("--json", "status", "--problems").stdout)
    report = json.loads(httpd.ctl("--json", "status").stdout)
    if app is None:
        return [f"{p['kind']}: {p['text']}" for p in all_ if not p["app"]]
    states = [g["state"] for g in report["groups"]
              if g["app_root"] == str(app.root)] or ["unused"]
    name, = [one["name"] for one in report["configured"]
             if one["app_root"] == str(app.root)]
    return [f"{states[0]}: {p['text']}" for p in all_
            if p["app"] == name] or states


def is_so(httpd: Httpd, app: App | None, name: str, row: Row) -> str:
    """The difference between the row and what is shown; "" if there is
    none."""
    page = [plain(one, httpd) for one in page_of(httpd, app)]
    done = httpd.ctl("why", name)
    why = [plain(line.strip(), httpd)
           for line in (done.stdout + done.stderr).splitlines()]
    wanted = plain(unmarked(row.page), httpd)
    wrong = [wanted] if wanted not in page else []
    said = plain(unmarked(row.why), httpd).split("<br>")
    if ": " in wanted:
        said.append(f"shop: {wanted.partition(': ')[2]}")
    wrong += [line for line in said if line not in why]
    return f"{row.symptom}: {wrong} is not in {page} {why}" if wrong else ""


def differences(scene: Scene, apps: dict[str, App]) -> list[str]:
    """Wait until each of these rows is so."""
    table, found = rows(), []
    for symptom, app in apps.items():
        row = table[symptom]
        try:
            wait_until(lambda: not is_so(scene.httpd, app, app.name, row),
                       symptom, 20)
        except Missed:
            found.append(is_so(scene.httpd, app, app.name, row))
    return [one for one in found if one]


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
                     sentences.ROOT_UNUSABLE, sentences.DRAINED)
    httpd.directives[1:] = ["MaxPoolSize 60"]
    scene = Scene(httpd)
    apps = make(httpd, SYMPTOMS)
    httpd.start()
    try:
        for symptom, app in apps.items():
            SYMPTOMS[symptom].act(scene, app)
        assert differences(scene, apps) == []
    finally:
        scene.end()
