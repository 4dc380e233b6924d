# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A template that does not do its work: the command is executed instead, and
the pool does not notice."""
import pytest

from harness import cgroups, procs, sentences, template
from harness.cases import cases
from harness.config import App
from harness.httpd import USER, Httpd
from harness.innocent import Innocent
from harness.late import Late
from harness.procs import alive, kill9
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")


@pytest.fixture(autouse=True)
def talkative(httpd: Httpd) -> None:
    httpd.directives.append("LogLevel apppool:info")


def executed(httpd: Httpd, app: App) -> int:
    """The command serves, and that was no failed start. @return its pid"""
    one = template.who(httpd, host=app.name)
    assert one["forked"] == "0" and one["fork"] == ""
    assert one["listen_fdnames"] == "apppool"
    group = httpd.group(app)
    assert (group["start_failures"], group["died"]) == (0, 0)
    httpd.check()
    return int(one["pid"])


def next_one(httpd: Httpd, app: App, pid: int) -> dict[str, str]:
    """Another process, in place of this one."""
    kill9(pid)
    wait_until(lambda: pid not in httpd.pids(app), "it is gone")
    return template.who(httpd, host=app.name)


def starts(httpd: Httpd) -> list[str]:
    """The programs that were executed: the template, or the app itself."""
    return ["template" if found[1] else "app" for found in template.logged(
        httpd, r"shop( template)?\[\d+\] starts as ")]


def given_up(httpd: Httpd, app: App, pid: int, templates: int) -> None:
    """This number of templates was loaded. No other template is tried for this
    code, until a restart."""
    pid = int(next_one(httpd, app, pid)["pid"])
    assert next_one(httpd, app, pid)["forked"] == "0"
    assert starts(httpd).count("template") == templates
    assert len(template.logged(httpd, template.GIVEN_UP)) == 1
    assert template.of(httpd, app) is None
    assert httpd.ctl("restart", "shop").returncode == 0
    wait_until(lambda: template.who(httpd)
               and starts(httpd).count("template") == templates + 1,
               "it is tried again")


# ---- it does not load

def test_refuses(httpd: Httpd) -> None:
    """That is an answer, so it is not asked again."""
    app = template.add(httpd, "refuses")
    httpd.log.expect(sentences.DIED)
    httpd.start()
    pid = executed(httpd, app)
    assert template.logged(httpd, template.GIVEN_UP + "it ended with exit code "
                           "69 while it loaded; last output: cannot be forked")
    given_up(httpd, app, pid, templates=1)


@pytest.mark.parametrize("way, why", [
    ("broken", "it ended with exit code 1 while it loaded"),
    ("never-ready", "it did not say READY=1 within 8 s"),
])
def test_does_not_load(httpd: Httpd, way: str, why: str) -> None:
    """Another one is tried, and then none."""
    app = template.add(httpd, way, "AppStartTimeout 8")
    httpd.log.expect(template.EXECUTED, sentences.DIED)
    httpd.start()
    pid = executed(httpd, app)
    assert template.logged(httpd, template.FOR_NOW + why)
    pid = int(next_one(httpd, app, pid)["pid"])
    assert template.logged(httpd, template.GIVEN_UP + why)
    given_up(httpd, app, pid, templates=2)


def test_code_does_not_load(httpd: Httpd) -> None:
    """The command does not start either. So it is not the template, and each
    start tries both, until the code is repaired."""
    app = template.add(httpd, "", "AppFriendlyErrors On")
    template.deploy(app, "broken")
    httpd.log.expect(template.FOR_NOW, sentences.NOT_STARTED,
                     sentences.START_ERROR)
    httpd.start()
    page = httpd.get("/", "shop")
    assert page.status == 502 and "this does not load" in page.text
    assert "it ended with exit code 1 while it started" in page.text
    assert starts(httpd) == ["template", "app"]
    assert template.logged(httpd, template.FOR_NOW + "it ended with exit code 1 "
                           "while it loaded; last output: this does not load")
    group = httpd.group(app)
    assert group["start_failures"] == 1 and group["template"] is None
    for tries in (2, 3):
        wait_until(lambda n=tries: httpd.get("/", "shop").status == 502
                   and len(starts(httpd)) == 2 * n, "the next try")
    template.deploy(app, "2")
    wait_until(lambda: httpd.get("/", "shop").status == 200, "it serves")
    assert template.who(httpd)["forked"] == "1"
    httpd.check()


def test_cannot_be_launched(httpd: Httpd) -> None:
    """The request gets its error at once, as without AppPreload."""
    app = template.add(httpd)
    httpd.log.expect(template.EXECUTED, "could not be made",
                     sentences.START_ERROR)
    httpd.start()
    wait_until((httpd.runtime / "o").exists, "the spawner runs")
    (httpd.runtime / "o").rename(httpd.runtime / "o-away")
    # sooner than AppQueueTimeout, 30 s
    assert httpd.get("/", "shop", timeout=25).status == 503
    (httpd.runtime / "o-away").rename(httpd.runtime / "o")
    assert len(template.logged(httpd, template.EXECUTED + ".*the FIFO")) == 1
    assert httpd.group(app)["start_failures"] == 1
    wait_until(lambda: httpd.get("/", "shop").status == 200, "it serves")
    assert template.who(httpd)["forked"] == "1", "it is tried again"


def test_ignores_sigterm(httpd: Httpd) -> None:
    """Restarts do not fill the memory with templates that end late."""
    app = template.add(httpd, "ignores-term", "AppStopTimeout 60",
                       "AppRestartMode blocking")
    httpd.log.expect(template.KILLED, template.DIED)
    httpd.start()
    pids = []
    for n in range(4):
        template.who(httpd)
        pids.append(int(str(template.ready(httpd, app)["pid"])))
        if n < 3:
            assert httpd.ctl("restart", "shop").returncode == 0
    wait_until(lambda: [alive(pid) for pid in pids] == [0, 0, 1, 1],
               "the oldest ones are gone")
    assert len(template.logged(httpd, template.KILLED)) == 2
    for pid in pids[2:]:
        kill9(pid)


def test_configuration_changes(httpd: Httpd) -> None:
    """So does another command."""
    app = template.add(httpd, "broken")
    httpd.log.expect(template.EXECUTED)
    httpd.start()
    executed(httpd, app)
    app.command = str(template.program(httpd))
    httpd.graceful()
    wait_until(lambda: template.who(httpd)["forked"] == "1", "it loads")
    assert template.ready(httpd, app)


# ---- it does not fork

@pytest.mark.parametrize("way", ["silent", "deaf", "closes", "dead"])
def test_forks_nothing(httpd: Httpd, way: str) -> None:
    """The command is executed: at once if all is closed or the process is dead,
    or else after five seconds. After the second time, the template is killed,
    and there is none."""
    app = template.add(httpd, way)
    httpd.log.expect(template.KILLED, sentences.DIED, template.GIVEN_UP)
    httpd.start()
    pid = executed(httpd, app)
    first = int(str(template.ready(httpd, app)["pid"]))

    def is_given_up() -> bool:
        nonlocal pid
        pid = int(next_one(httpd, app, pid)["pid"])
        return bool(template.logged(httpd, template.GIVEN_UP))

    wait_until(is_given_up, "orders of one second count once", 60)
    httpd.log.wait_for(template.KILLED + "it forked no process")
    wait_until(lambda: not alive(first), "it is gone")
    given_up(httpd, app, pid, templates=1)


def test_closes_all(httpd: Httpd) -> None:
    """It does not take five seconds."""
    app = template.add(httpd, "closes")
    httpd.start()
    with Late(*procs.marked(str(httpd.dir))) as late:
        executed(httpd, app)
    late.within(4)
    assert template.ready(httpd, app)["forked"] == 0


# ---- its hello is not true

HOSTILE = {
    "own-pid": "is older than the order|is known already",
    "init": "is not a child of the spawner",
    "foreign": "is not a child of the spawner",
    "parent": "runs as another user|is not a child|does not lead a session",
    "garbage": "its hello is no pid",
    "forked-once": "is not a child of the spawner",
    "no-setsid": "does not lead a session",
    "subreaper": "is not a child of the spawner",
}


@pytest.mark.parametrize("by", cgroups.WAYS)
def test_lies(httpd: Httpd, by: str) -> None:
    """It is killed together with the processes that it has forked, and so is the
    next one, which is the last. Another app of that user, and a process that it
    names, stay alive."""
    httpd.wrapper = cgroups.wrapper(by)
    httpd.directives.append(f"MaxPoolSize {len(HOSTILE) + 1}")
    other = template.add(httpd, name="other")
    with Innocent(httpd.dir / "hold", USER) as innocent:
        apps = {way: template.add(httpd, way, f"AppSetEnv FOREIGN {innocent.pid}",
                                  name=f"{way}-shop") for way in HOSTILE}
        httpd.log.expect(template.KILLED, sentences.DIED, template.GIVEN_UP)
        httpd.start()
        before = template.who(httpd, host="other")
        for way, case in cases(HOSTILE):
            app, killed = apps[way], f"apppool: {way}-{template.KILLED}"
            with case:
                pid = executed(httpd, app)
                httpd.log.wait_for(f"{killed}.*({HOSTILE[way]})")
                two = next_one(httpd, app, pid)
                three = next_one(httpd, app, int(two["pid"]))
                assert (two["forked"], three["forked"]) == ("0", "0")
                assert len(template.logged(httpd, killed)) == 2
                assert template.logged(httpd, f" {way}-{template.GIVEN_UP}")
                assert template.of(httpd, app) is None
                assert template.who(httpd, host="other") == before
                assert template.ready(httpd, other)
                assert innocent.unharmed()


def test_sends_a_descriptor(httpd: Httpd) -> None:
    app = template.add(httpd, "sends-back")
    httpd.start()
    assert template.who(httpd)["forked"] == "1"
    httpd.log.wait_for(r"shop template\[\d+\]> sent back: Broken pipe")
    assert template.ready(httpd, app)


# ---- it dies

def test_killed_while_ready(httpd: Httpd) -> None:
    """Its processes continue to serve. The next order loads another
    template."""
    app = template.add(httpd)
    httpd.log.expect(template.DIED, sentences.DIED)
    httpd.start()
    one = template.who(httpd)
    first = int(str(template.ready(httpd, app)["pid"]))
    kill9(first)
    wait_until(lambda: template.of(httpd, app) is None, "it is gone")
    assert template.who(httpd)["pid"] == one["pid"]
    assert next_one(httpd, app, int(one["pid"]))["forked"] == "1"
    assert template.ready(httpd, app)["pid"] != first


@pytest.mark.parametrize("way", ["dies", "ready-then-dies"])
def test_dies_again_and_again(httpd: Httpd, way: str) -> None:
    """It dies over the order, or before that. The second one is the last. It may
    be killed while it dies."""
    app = template.add(httpd, way)
    httpd.log.expect(template.DIED, template.KILLED, sentences.DIED,
                     template.GIVEN_UP)
    httpd.start()
    pid = executed(httpd, app)
    pid = int(next_one(httpd, app, pid)["pid"])
    httpd.log.wait_for(template.GIVEN_UP + "templates failed twice in a row")
    given_up(httpd, app, pid, templates=2)


def test_its_app_leaves(httpd: Httpd) -> None:
    app = template.add(httpd)
    template.add(httpd, name="other")
    httpd.start()
    template.who(httpd)
    pid = int(str(template.ready(httpd, app)["pid"]))
    httpd.apps.remove(app)
    httpd.graceful()
    wait_until(lambda: not alive(pid), "it ends")


def test_turned_off(httpd: Httpd) -> None:
    app = template.add(httpd)
    httpd.start()
    template.who(httpd)
    pid = int(str(template.ready(httpd, app)["pid"]))
    app.directives = ["AppPreload Off"]
    httpd.graceful()
    wait_until(lambda: template.of(httpd, app) is None and not alive(pid),
               "it ends")


# ---- the configuration

@pytest.mark.parametrize("directives, wrong", [
    (["AppListen tcp"], "AppPreload On needs AppListen fd"),
    (["AppProtocol fcgi"], "AppPreload On needs AppProtocol http"),
])
def test_refused(httpd: Httpd, directives: list[str], wrong: str) -> None:
    template.add(httpd, "", *directives)
    done = httpd.test()
    assert done.returncode != 0 and wrong in done.stdout


def test_no_template_for_these_files(httpd: Httpd) -> None:
    """A state of the files is no error of the configuration. The files may
    change."""
    app = httpd.app("shop", "AppPreload On", command=None)
    app.root.joinpath("Procfile").write_text(f"web: {httpd.command}\n")
    assert httpd.test().returncode == 0
    httpd.log.expect(template.EXECUTED)
    httpd.start()
    assert httpd.get("/pid", "shop").status == 200
    found, = template.logged(httpd, template.EXECUTED + ".*")
    assert "Procfile has a web: line, and there is no template for the " \
        "server that runs it" in found[0]
    assert template.of(httpd, app) is None
    httpd.check()


def test_nonsense(httpd: Httpd) -> None:
    httpd.app("shop", "AppPreload maybe")
    done = httpd.test()
    assert 'AppPreload: "maybe" is not one of these: Off On auto' in done.stdout
