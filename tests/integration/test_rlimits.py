# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The resource limits of a process: those with which httpd was started, or
those of RLimitCPU, RLimitMEM and RLimitNPROC."""
import re
import resource

import pytest

from harness import procs, sentences
from harness.httpd import Httpd
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")


def limits(httpd: Httpd, host: str, path: str = "") -> dict[str, str]:
    """/proc/self/limits of an app: "soft hard" by name"""
    response = httpd.get(f"{path}/process", host)
    assert response.status == 200, response.text
    return parse(response.json()["limits"])


def parse(text: str) -> dict[str, str]:
    return {line[:26].strip(): " ".join(line[26:].split()[:2])
            for line in text.splitlines()[1:]}


def test_as_httpd_was_started(httpd: Httpd) -> None:
    """Also limits that our own programs have raised for themselves, and after
    one of these was started again."""
    httpd.wrapper = ["prlimit", "--nofile=512:2048", "--core=1000:2000"]
    httpd.app("shop")
    httpd.app("blog")
    httpd.start()
    own = parse(procs.read(httpd.pid, "limits").decode())
    assert own["Max open files"] == "512 2048"
    assert own["Max core file size"] == "1000 2000"
    assert limits(httpd, "shop") == own
    spawner = httpd.helper("spawner")
    raised = parse(procs.read(spawner, "limits").decode())
    assert raised["Max open files"] == "2048 2048"
    procs.kill9(spawner)
    assert limits(httpd, "blog") == own


def test_directives(httpd: Httpd) -> None:
    """In the virtual host, in the <Location>, in neither."""
    httpd.directives.append("RLimitCPU 1000 2000")
    shop = httpd.app("shop", "RLimitMEM 800000000 900000000")
    shop.location = "/shop"
    httpd.app("blog", "RLimitNPROC 3000", "RLimitCPU 500 max")
    httpd.app("wiki")
    httpd.start()
    hard = parse(procs.read(httpd.pid, "limits").decode())
    seen = limits(httpd, "status", "/shop")
    assert seen["Max cpu time"] == "1000 2000"
    assert seen["Max address space"] == "800000000 900000000"
    seen = limits(httpd, "blog")
    assert seen["Max processes"].split()[0] == "3000"
    assert seen["Max cpu time"] == \
        f"500 {hard['Max cpu time'].split()[1]}"
    seen = limits(httpd, "wiki")
    assert seen["Max cpu time"] == "1000 2000"
    assert seen["Max address space"] == hard["Max address space"]
    assert seen["Max processes"] == hard["Max processes"]


def test_changed(httpd: Httpd) -> None:
    """A graceful restart replaces the processes."""
    app = httpd.app("shop", "RLimitCPU 1000")
    httpd.start()
    assert limits(httpd, "shop")["Max cpu time"].split()[0] == "1000"
    app.directives[0] = "RLimitCPU 2000"
    httpd.graceful()
    wait_until(lambda: limits(httpd, "shop")["Max cpu time"].split()[0]
               == "2000", "the new limit")
    del app.directives[0]
    httpd.graceful()
    wait_until(lambda: limits(httpd, "shop")["Max cpu time"]
               == " ".join(map(word, resource.getrlimit(
                   resource.RLIMIT_CPU))), "no limit")


def word(limit: int) -> str:
    return "unlimited" if limit == resource.RLIM_INFINITY else str(limit)


@pytest.mark.parametrize("directive,why", [
    ("RLimitNPROC 1", "Resource temporarily unavailable"),
    ("RLimitMEM 1000000", "last output: .*failed to map")])
def test_too_small(httpd: Httpd, directive: str, why: str) -> None:
    """The start fails with a reason, and other apps are not affected."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    httpd.app("shop", directive)
    httpd.app("blog")
    httpd.start()
    assert httpd.get("/pid", "shop").status in (502, 503)
    httpd.log.wait_for(f"shop.*could not be started: .*({why})")
    assert httpd.get("/pid", "blog").status == 200


def test_one_app_in_two_places(httpd: Httpd) -> None:
    """With different limits: the first ones apply, and a warning says so."""
    first = httpd.app("shop", "RLimitCPU 1000")
    httpd.app("www", "RLimitCPU 2000", root=first.root)
    for app in httpd.apps:
        app.directives = [d for d in app.directives if "APP_NAME" not in d]
    httpd.log.expect("is the same application as")
    checked = httpd.test()
    assert checked.returncode == 0
    assert "with other limits; those of " in checked.stdout
    httpd.start()
    assert limits(httpd, "www")["Max cpu time"].split()[0] == "1000"


# There, not even root can raise its hard limit.
CAPPED = ["setpriv", "--bounding-set", "-sys_resource", "--inh-caps",
          "-sys_resource"]


def test_too_few_descriptors(httpd: Httpd) -> None:
    """The numbers are logged, for each configuration for which they are too
    small."""
    httpd.wrapper = [*CAPPED, "prlimit", "--nofile=512:1000"]
    httpd.log.expect(sentences.FEW_DESCRIPTORS)
    httpd.directives.append("MaxPoolSize 100")
    httpd.app("shop")
    httpd.start()
    assert httpd.get("/pid", "shop").status == 200
    assert not httpd.log.matching("descriptors")
    httpd.directives[-1] = "MaxPoolSize 250"
    httpd.graceful()
    line, = wait_until(lambda: httpd.log.matching("MaxPoolSize 250"))
    assert re.search(r"needs (\d+) descriptors.*limit is 1000:", line)
    assert httpd.get("/pid", "shop").status == 200


def test_adoption_without_descriptors(httpd: Httpd) -> None:
    """The next spawner has no descriptors for all processes. No process is
    ended because of that. The remaining ones are adopted when there are
    descriptors."""
    httpd.wrapper = [*CAPPED, "prlimit", "--nofile=512:2000"]
    httpd.log.expect(sentences.FEW_DESCRIPTORS, sentences.NONE_LEFT,
                     sentences.NOT_STARTED, sentences.START_ERROR)
    blog = httpd.app("blog", "MaxInstances 3")
    shop = httpd.app("shop", "MinInstances 3", "MaxInstances 3")
    httpd.start()
    held = [httpd.hold("blog", key) for key in "abc"]
    assert [one.release().status for one in held] == [200] * 3
    assert httpd.get("/pid", "shop").status == 200
    httpd.settles(active=0, count=6)
    pids = httpd.pids(shop)
    watchdog, spawner = httpd.helper("watchdog"), httpd.helper("spawner")
    # The first spawner was their parent, so it needed no pidfd of these six.
    most = procs.descriptors(spawner) + 2
    resource.prlimit(watchdog, resource.RLIMIT_NOFILE, (most, most))
    procs.kill9(spawner)
    httpd.log.wait_for("there are no descriptors to watch [123] processes")
    assert all(map(procs.alive, pids))
    for pid in httpd.pids(blog):
        procs.kill9(pid)
    for pid in pids:
        httpd.log.wait_for(rf"shop\[{pid}\] is adopted")
    assert httpd.pids(shop) == pids
    procs.kill9(pids[0])
    wait_until(lambda: pids[0] not in httpd.pids(shop), "its end is seen")
