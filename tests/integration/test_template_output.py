# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The output of a template that has ended is read while a process that it has
forked can print through it."""
import os
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

import pytest

from harness import cgroups, procs, registry, sentences, template
from harness.config import App
from harness.httpd import Httpd
from harness.logs import has
from harness.procs import alive, kill9
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")

# Descriptor 9 of the template
COPY, OPENED = "9>&1", "9>>/dev/stdout"
LINES = 50  # of 2,000 bytes; a FIFO holds 64 KB
TEXT = 2000 * "x"


def add(httpd: Httpd, *directives: str, logger: str = COPY) -> App:
    """A process of it prints to the output of the template."""
    httpd.directives.append("LogLevel apppool:info")
    httpd.log.expect(sentences.DIED, template.DIED)
    return template.add(httpd, logger, "AppSetEnv LOGGER 9", *directives)


def ends(httpd: Httpd, app: App) -> int:
    """The template is killed. @return its pid"""
    pid = int(str(template.ready(httpd, app)["pid"]))
    kill9(pid)
    wait_until(lambda: is_read(httpd, pid), "only its output is left")
    return pid


def is_read(httpd: Httpd, pid: int) -> bool:
    """Is there nothing but the output of this template?"""
    return [(t["pid"], t["output_only"])
            for t in registry.templates(httpd)] == [(pid, 1)]


def fifos(httpd: Httpd) -> int:
    return len(list((httpd.runtime / "o").iterdir()))


def prints(httpd: Httpd, pid: int, before: int = 0) -> None:
    """Each line is logged with the name of the template."""
    for _ in range(LINES):
        template.who(httpd, f"/say/{TEXT}")
    found = httpd.log.wait_for(
        rf"apppool: shop template\[{pid}\]> {TEXT}$", before + LINES)
    assert len(found) == before + LINES


def is_gone(httpd: Httpd) -> None:
    """Neither a record nor a file is left of it."""
    wait_until(lambda: registry.templates(httpd) == [], "it has no record")
    wait_until(lambda: fifos(httpd) == 0, "it has no file")


@pytest.mark.parametrize("by", cgroups.WAYS)
@pytest.mark.parametrize("logger", [COPY, OPENED])
def test_template_dies(httpd: Httpd, logger: str, by: str) -> None:
    httpd.wrapper = cgroups.wrapper(by)
    app = add(httpd, logger=logger)
    httpd.start()
    one = template.who(httpd)
    pid = ends(httpd, app)
    prints(httpd, pid)
    assert template.who(httpd)["pid"] == one["pid"]
    assert fifos(httpd) == 2
    assert template.of(httpd, app) is None
    kill9(int(one["pid"]))
    is_gone(httpd)
    httpd.check()


def test_template_is_idle(httpd: Httpd) -> None:
    """That is how most templates end. The next process comes from another
    one."""
    app = add(httpd, "AppPreloadIdleTime 200ms", "AppConcurrency 1")
    httpd.start()
    one = template.who(httpd)
    first = wait_until(lambda: [t["pid"] for t in registry.templates(httpd)
                                if t["output_only"]], "it has ended")
    prints(httpd, first[0])
    kill9(int(one["pid"]))
    wait_until(lambda: httpd.pids(app) == [], "it is gone")
    assert template.who(httpd)["forked"] == "1"
    second = wait_until(lambda: [t["pid"] for t in registry.templates(httpd)
                                 if t["output_only"] and
                                 t["pid"] not in first], "it has ended, too")
    prints(httpd, second[0])
    assert fifos(httpd) == 2
    httpd.check()


def test_spawner_killed(httpd: Httpd) -> None:
    """Twice: first the template ends with the spawner, and then it is gone. The
    next spawner reads on."""
    app = add(httpd)
    httpd.log.expect(sentences.SPAWNER_KILLED)
    httpd.start()
    one = template.who(httpd)
    pid = int(str(template.ready(httpd, app)["pid"]))
    for n in range(2):
        spawner = httpd.helper("spawner")
        kill9(spawner)
        wait_until(lambda old=spawner: httpd.spawner_now() not in (0, old),
                   "another one")
        wait_until(lambda: is_read(httpd, pid), "it is adopted")
        prints(httpd, pid, n * LINES)
    assert template.who(httpd)["pid"] == one["pid"]
    kill9(int(one["pid"]))
    is_gone(httpd)
    httpd.check()


def test_last_writer_ends_between_two_spawners(httpd: Httpd) -> None:
    """There is nothing to read any more, and nothing wakes the spawner."""
    app = add(httpd)
    httpd.log.expect(sentences.SPAWNER_KILLED)
    httpd.start()
    one = template.who(httpd)
    ends(httpd, app)
    with registry.between_spawners(httpd):
        kill9(int(one["pid"]))
        wait_until(lambda: not alive(int(one["pid"])), "it is dead")
    is_gone(httpd)


def test_reload(httpd: Httpd) -> None:
    """Its lines go where the output of the app goes."""
    file = httpd.dir / "shop.log"
    app = add(httpd)
    httpd.start()
    one = template.who(httpd)
    pid = ends(httpd, app)
    app.directives.append(f"AppLog {file}")
    httpd.graceful()

    def arrives() -> bool:
        template.who(httpd, "/say/hello")
        return has(file, rf"shop template\[{pid}\]> hello$")

    wait_until(arrives, "the spawner has the new table")
    assert template.who(httpd)["pid"] == one["pid"]


@contextmanager
def held(pid: int) -> Iterator[None]:
    """A process that is not the app's has the descriptor, as if the app had
    sent it there."""
    fd = os.open(f"/proc/{pid}/fd/9", os.O_WRONLY)
    try:
        yield
    finally:
        os.close(fd)


@pytest.mark.parametrize("then", ["process ends", "httpd stops"])
def test_descriptor_that_was_passed_on(httpd: Httpd, then: str) -> None:
    """No FIFO outlives the processes that were forked from its template. So an
    app cannot have more and more of them."""
    app = add(httpd)
    httpd.start()
    pid = int(template.who(httpd)["pid"])
    ends(httpd, app)
    spawner = httpd.helper("spawner")
    with held(pid):
        if then == "httpd stops":
            httpd.stop()
            assert not Path(httpd.runtime / "o").exists()
            return
        before = procs.descriptors(spawner)
        kill9(pid)
        is_gone(httpd)
        wait_until(lambda: procs.descriptors(spawner) < before, "it is closed")
    assert template.who(httpd)["forked"] == "1"
    httpd.check()
