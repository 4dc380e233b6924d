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


# ---- it does not load

@pytest.mark.parametrize("way, why", [
    ("broken", "it ended with exit code 1 while it loaded"),
    ("refuses", "it ended with exit code 69 while it loaded"),
    ("never-ready", "it did not say READY=1 within 8 s"),
])
def test_does_not_load(httpd: Httpd, way: str, why: str) -> None:
    """No other template is tried for this code. A restart brings another
    try."""
    app = template.add(httpd, way, "AppStartTimeout 8")
    httpd.log.expect(template.EXECUTED, sentences.DIED)
    httpd.start()
    pid = executed(httpd, app)
    assert template.logged(httpd, template.EXECUTED + why)
    assert next_one(httpd, app, pid)["forked"] == "0"
    assert len(template.logged(httpd, template.EXECUTED)) == 1
    assert template.of(httpd, app) is None
    assert httpd.ctl("restart", "shop").returncode == 0
    wait_until(lambda: template.who(httpd) and
               len(template.logged(httpd, template.EXECUTED)) == 2,
               "it is tried again")


def starts(httpd: Httpd, way: str = "") -> list[str]:
    """The programs that were executed: the template, or the app itself."""
    return ["template" if found[1] else "app" for found in template.logged(
        httpd, rf"shop( template)?\[\d+\] starts as .*{way}")]


def test_code_does_not_load(httpd: Httpd) -> None:
    """The error page comes after one start. It has what the template said. The
    next start executes the command, and the one after it loads a template."""
    app = template.add(httpd, "", "AppFriendlyErrors On")
    template.deploy(app, "broken")
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    httpd.start()
    page = httpd.get("/", "shop")
    assert page.status == 502 and "this does not load" in page.text
    assert "it ended with exit code 70 while it loaded" in page.text
    assert starts(httpd) == ["template"]
    group = httpd.group(app)
    assert group["start_failures"] == 1 and group["template"] is None
    for then in ["template", "app"], ["template", "app", "template"]:
        wait_until(lambda n=len(then): httpd.get("/", "shop").status == 502
                   and len(starts(httpd)) == n, "the next try")
        assert starts(httpd) == then
    template.deploy(app, "2")
    wait_until(lambda: httpd.get("/", "shop").status == 200, "it serves")
    httpd.check()


@pytest.mark.parametrize("way, version, first", [
    ("", "signal 10", ["template"]), ("", "signal 9", ["template", "app"]),
    ("tells-nothing", "signal 10", ["template", "app"])])
def test_code_ends_it(httpd: Httpd, way: str, version: str,
                      first: list[str]) -> None:
    """If it has said that it loads the code, that is one failed start, and the
    next start executes the command. If it has not, or was killed by others, it
    may have been the template."""
    app = template.add(httpd, way)
    template.deploy(app, version)
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR,
                     template.EXECUTED)
    httpd.start()
    assert httpd.get("/", "shop").status == 502
    assert starts(httpd, "") == first
    assert httpd.group(app)["start_failures"] == 1
    wait_until(lambda: httpd.get("/", "shop").status == 502
               and len(starts(httpd)) > len(first), "the next try")
    assert starts(httpd)[len(first)] == "app"
    template.deploy(app, "2")
    wait_until(lambda: httpd.get("/", "shop").status == 200, "it serves")
    httpd.check()


def test_says_that_its_code_does_not_load(httpd: Httpd) -> None:
    """That is not true. The next start shows it, and nobody waits in vain after
    that."""
    app = template.add(httpd, "says-broken", "AppConcurrency 1")
    httpd.log.expect(template.EXECUTED, sentences.NOT_STARTED,
                     sentences.START_ERROR, sentences.DIED)
    httpd.start()
    assert httpd.get("/", "shop").status == 502
    wait_until(lambda: httpd.get("/", "shop").status == 200, "it serves")
    assert starts(httpd) == ["template", "app"]
    pid, = httpd.pids(app)
    busy = httpd.get_async("/sleep/2000", "shop")
    httpd.settles(active=1, count=1)
    assert template.who(httpd)["forked"] == "0"
    assert busy.result().status == 200
    assert starts(httpd) == ["template", "app", "template", "app"]
    assert len(template.logged(httpd, template.EXECUTED)) == 1
    next_one(httpd, app, pid)
    assert starts(httpd)[4:] in ([], ["app"])


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

@pytest.mark.parametrize("way", ["silent", "deaf"])
def test_no_hello(httpd: Httpd, way: str) -> None:
    """The command is executed after five seconds. When this happens twice in a
    row, the template is killed, and the next order loads another one."""
    app = template.add(httpd, way)
    httpd.log.expect(template.KILLED, sentences.DIED)
    httpd.start()
    pid = executed(httpd, app)
    first = template.ready(httpd, app)["pid"]
    two = next_one(httpd, app, pid)
    assert two["forked"] == "0"
    httpd.log.wait_for(template.KILLED + "it forked no process, twice in a row")
    wait_until(lambda: not alive(int(str(first))), "it is gone")
    next_one(httpd, app, int(two["pid"]))
    assert template.of(httpd, app)["pid"] != first  # type: ignore[index]


def test_closes_all(httpd: Httpd) -> None:
    """It does not take five seconds."""
    app = template.add(httpd, "closes")
    httpd.start()
    with Late(*procs.marked(str(httpd.dir))) as late:
        executed(httpd, app)
    late.within(4)
    assert template.ready(httpd, app)["forked"] == 0


@pytest.mark.parametrize("way", ["closes", "dead"])
def test_forks_nothing_again_and_again(httpd: Httpd, way: str) -> None:
    """Two templates of one code have their tries, and then the command is
    executed. A restart brings another try."""
    app = template.add(httpd, way)
    httpd.log.expect(template.KILLED, sentences.DIED, template.FRUITLESS)
    httpd.start()
    pid = executed(httpd, app)

    def is_given_up() -> bool:
        nonlocal pid
        pid = int(next_one(httpd, app, pid)["pid"])
        return bool(template.logged(httpd, template.FRUITLESS))

    wait_until(is_given_up, "it is given up")
    for _ in range(2):
        pid = int(next_one(httpd, app, pid)["pid"])
    assert starts(httpd).count("template") == 2
    assert len(template.logged(httpd, template.KILLED)) == 2
    assert template.of(httpd, app) is None
    assert httpd.ctl("restart", "shop").returncode == 0
    wait_until(lambda: template.who(httpd)
               and starts(httpd).count("template") == 3, "it is tried again")


def test_forked_process_dies_at_once(httpd: Httpd) -> None:
    app = template.add(httpd, "dead")
    httpd.start()
    executed(httpd, app)


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
    """It is killed together with the processes that it has forked. Another app
    of that user, and a process that it names, stay alive."""
    httpd.wrapper = cgroups.wrapper(by)
    httpd.directives.append(f"MaxPoolSize {len(HOSTILE) + 1}")
    other = template.add(httpd, name="other")
    with Innocent(httpd.dir / "hold", USER) as innocent:
        apps = {way: template.add(httpd, way, f"AppSetEnv FOREIGN {innocent.pid}",
                                  name=f"{way}-shop") for way in HOSTILE}
        httpd.log.expect(template.KILLED, sentences.DIED)
        httpd.start()
        before = template.who(httpd, host="other")
        for way, case in cases(HOSTILE):
            app, killed = apps[way], f"apppool: {way}-{template.KILLED}"
            with case:
                pid = executed(httpd, app)
                httpd.log.wait_for(f"{killed}.*({HOSTILE[way]})")
                assert next_one(httpd, app, pid)["forked"] == "0"
                assert len(template.logged(httpd, killed)) == 1
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


def test_dies_again_and_again(httpd: Httpd) -> None:
    """This happens with three orders. Then no template is tried any more."""
    app = template.add(httpd, "dies")
    httpd.log.expect(template.DIED, "was the last one of 3", sentences.DIED)
    httpd.start()
    pid = executed(httpd, app)
    for _ in range(2):
        pid = int(next_one(httpd, app, pid)["pid"])
    httpd.log.wait_for(r"shop template\[\d+\] was the last one of 3 that died "
                       "within 60 s: no template, its command is executed")
    next_one(httpd, app, pid)
    assert len(template.logged(httpd, template.READY)) == 3


def test_ready_then_dies(httpd: Httpd) -> None:
    app = template.add(httpd, "ready-then-dies")
    httpd.log.expect(template.DIED, "was the last one of 3", sentences.DIED)
    httpd.start()
    executed(httpd, app)


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
