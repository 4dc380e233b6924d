# Licensed under the Apache License, Version 2.0; see LICENSE.
"""httpd -t: a wrong value gives one clear sentence with the directive, the
value and what is allowed. Nothing is changed."""
import os
import subprocess
from pathlib import Path
from typing import Optional

import pytest

from harness import sentences
from harness.cases import cases
from harness.httpd import Httpd
from harness.refused import all_refused

pytestmark = pytest.mark.mpms("event")

# Server-wide: (line, the value that is named)
SERVER = [
    ("MaxPoolSize 0", "0"),
    ("MaxPoolSize -1", "-1"),
    ("MaxPoolSize many", "many"),
    ("MaxPoolSize 3x", "3x"),
    ("MaxPoolSize 99999999999999999999", "99999999999999999999"),
    ("PoolIdleTime soon", "soon"),
    ("PoolIdleTime -1", "-1"),
    ("AppPoolCapacity 0", "0"),
    ("AppPoolCapacity 10000000", "10000000"),
    ("AppPoolCapacity 100 none", "none"),
]

# In an app: the same, in a virtual host
APP = [
    ("AppListen pipe", "pipe"),
    ("AppGlobalQueue maybe", ""),
    ("AppMaxQueue -1", "-1"),
    ("AppMaxQueue lots", "lots"),
    ("AppQueueTimeout never", "never"),
    ("AppStartTimeout x", "x"),
    ("AppStopTimeout x", "x"),
    ("AppTimeout x", "x"),
    ("AppRestartCheckInterval x", "x"),
    ("AppRestartCheckInterval -1", "-1"),
    ("MinInstances -1", "-1"),
    ("MinInstances few", "few"),
    ("MaxInstances -1", "-1"),
    ("MaxInstances few", "few"),
    ("MaxRequests -1", "-1"),
    ("MaxRequests 10 some", "some"),
    ("AppMemoryLimit much", "much"),
    ("AppMemoryLimit -1", "-1"),
    ("AppMemoryLimit 100MB", "100MB"),
    ("AppMemoryLimit 1025G", "1025G"),
    ("AppMemoryLimit 99999999999999999999", "99999999999999999999"),
    ("AppMemoryLimit 9999999999999G", "9999999999999G"),
    ("AppMemoryLimit M", "M"),
    ("AppMemoryLimit ''", ""),
    ("AppHungAfter soon", "soon"),
    ("AppHungAfter -1", "-1"),
    ("AppKillAfter late", "late"),
    ("AppHungStopTimeout 2d", "2d"),
    ("AppRetireTimeout soon", "soon"),
    ("AppStopSignal none", "none"),
    ("AppStopSignal KILL", "KILL"),
    ("AppStopSignal 32", "32"),
    ("AppNoNewPrivileges maybe", "maybe"),
    ("AppSpawnIfUnder few", "few"),
    ("AppHungExtra -1", "-1"),
    ("AppMaxUnkillable none", "none"),
    ("AppFrontController index.html", "index.html"),
    ("AppFrontController ../index.php", "../index.php"),
    ("AppFrontController a/../../index.php", "a/../../index.php"),
    ("AppReady maybe", "maybe"),
    ("AppReady up", "up"),
    ("AppReady ''", ""),
    ("AppReady '/with space'", "/with space"),
    ("AppReady /up#there", "/up#there"),
    ("AppReady /" + "u" * 1025, "/" + "u" * 1025),
    ("AppConcurrency -1", "-1"),
    ("AppConcurrency all", "all"),
    ("PoolIdleTime soon", "soon"),
    ("AppUser nosuchuser", "nosuchuser"),
    ("AppUser root", "root"),
    ("AppUser www-data nosuchgroup", "nosuchgroup"),
    ("AppSetEnv A=B value", "A=B"),
    ("AppGroupName " + "g" * 300, "g" * 300),
    ("AppCommand ''", ""),
]


def test_bad_server_value(httpd: Httpd) -> None:
    httpd.app("shop")
    all_refused(httpd, httpd.directives, SERVER)


def test_bad_app_value(httpd: Httpd) -> None:
    app = httpd.app("shop")
    all_refused(httpd, app.directives, APP)


def test_old_name(httpd: Httpd) -> None:
    """The error names the new directive, whatever the arguments are."""
    app = httpd.app("shop")
    for (old, new), case in cases([
            ("AppMaxZombies 1", "AppMaxUnkillable"),
            ("AppSlowLog 10s", "AppSlowAfter"),
            ("AppDyingLimit 'any'", "AppHungStopTimeout"),
            ("AppStatusAllowKill", "AppStatusAllowActions"),
            ("AppMaxLasting 200", "AppMaxLongLived"),
            ("AppDrainTimeout 60", "AppRetireTimeout"),
            ("AppStatInterval 1s", "AppRestartCheckInterval")]):
        app.directives = [old]
        done = httpd.test()
        with case:
            assert done.returncode != 0
            assert f"{old.split()[0]} has another name now: {new}" \
                in done.stdout


def test_long_runtime_dir(httpd: Httpd) -> None:
    """The paths of its sockets limit its length."""
    httpd.app("shop")
    httpd.directives.append("AppPoolRuntimeDir /" + "x" * 80)
    done = httpd.test()
    assert done.returncode != 0
    assert "x" * 80 in done.stdout
    assert "71 bytes" in done.stdout and "AppPoolRuntimeDir" in done.stdout


@pytest.mark.parametrize("root,why", [
    ("/nonexistent/place", "No such file or directory"),
    ("/etc/passwd", "not a directory")])
def test_useless_root(httpd: Httpd, root: str, why: str) -> None:
    """httpd -t warns. The directory may be created later, so httpd starts."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    httpd.app("shop", command="/bin/true")
    httpd.apps[0].root = Path(root)
    done = httpd.test()
    assert done.returncode == 0, done.stdout
    line = [line for line in done.stdout.splitlines() if root in line][0]
    assert "AppRoot" in line and why in line
    httpd.start()
    assert httpd.get("/", "shop").status in (502, 503)
    assert [line for line in httpd.log.matching("could not be started")
            if f"AppRoot {root} " in line and why in line]


def test_good_values(httpd: Httpd) -> None:
    """Each directive once, with httpd's units of time."""
    httpd.directives += ["MaxPoolSize 10", "PoolIdleTime 5min",
                         "AppPoolCapacity 64 256"]
    httpd.app("shop", "AppGroupName the-shop", "AppListen unix",
              "AppUser nobody nogroup", "AppEnvironment staging",
              "AppSetEnv NAME value", "MinInstances 1", "MaxInstances 4",
              "MaxRequests 1000 100", "PoolIdleTime 500ms",
              "AppConcurrency 2", "AppGlobalQueue Off", "AppMaxQueue 10",
              "AppQueueTimeout 30s", "AppStartTimeout 1min",
              "AppStopTimeout 10", "AppTimeout 500ms", "AppRestartDir tmp",
              "AppRestartCheckInterval 1s", "AppLog shop.log",
              "AppHungAfter 5s", "AppKillAfter 1min", "AppHungStopTimeout 0", "AppSpawnIfUnder 2",
              "AppHungExtra 1", "AppMaxUnkillable 0", "AppRetireTimeout 0",
              "AppStopSignal sigquit", "AppNoNewPrivileges Off")
    done = httpd.test()
    assert done.returncode == 0, done.stdout
    assert done.stdout.strip() == "Syntax OK"


def test_touches_nothing(httpd: Httpd) -> None:
    httpd.app("shop")
    assert httpd.test().returncode == 0
    assert not httpd.runtime.exists()
    assert list((httpd.dir / "run").iterdir()) == []


@pytest.mark.parametrize("line", ["MaxPoolSize 5", "AppPoolCapacity 64",
                                  "AppPoolRuntimeDir /tmp/x",
                                  "AppPoolLibexec /tmp/x"])
def test_server_only(httpd: Httpd, line: str) -> None:
    """A directive of the whole server is refused in a virtual host."""
    httpd.app("shop", line)
    done = httpd.test()
    assert done.returncode != 0
    assert line.split()[0] in done.stdout


def test_paths_that_are_no_text(httpd: Httpd) -> None:
    """Those that httpd knows from other directives. The spawner would refuse
    them, and with them all apps."""
    app = httpd.app("shop")
    config, place = httpd.configure(), os.fsencode(httpd.dir)
    good = config.read_bytes()
    root = b'AppRoot "%s"' % os.fsencode(app.root)
    os.makedirs(place + b"/\xe9/run")
    for bad, case in cases([
            good.replace(root, b'<Location "/\xe9">\n%s\n</Location>' % root),
            good.replace(b'Root "%s"\n' % place, b'Root "%s/\xe9"\n' % place)
            .replace(root, b'AppRoot "shop"')]):
        with case:
            assert bad != good
            (httpd.dir / "whole.conf").write_bytes(bad)
            done = httpd.test(f"Include {httpd.dir}/whole.conf")
            assert done.returncode != 0
            assert "AppRoot: the path" in done.stdout, done.stdout


def test_one_name_two_roots(httpd: Httpd) -> None:
    """A16"""
    httpd.app("a", "AppGroupName both")
    httpd.app("b", "AppGroupName both")
    done = httpd.test()
    assert done.returncode != 0
    line, = [line for line in done.stdout.splitlines() if '"both"' in line]
    assert "same AppRoot" in line
    assert line.count("line ") == 2, "it says where they are"


def test_one_name_one_app(httpd: Httpd) -> None:
    """A16: root, command, user and environment are the same: one group."""
    httpd.app("a", "AppGroupName both", command="/bin/true")
    httpd.app("b", "AppGroupName both", command="/bin/true",
              root=httpd.dir / "a")
    assert httpd.test().returncode == 0
    httpd.apps[1].directives.append("AppEnvironment staging")
    assert httpd.test().returncode != 0


def test_no_mod_proxy(httpd: Httpd) -> None:
    """The message names the LoadModule line that is missing."""
    httpd.app("shop")
    path = httpd.configure()
    lines = path.read_text().splitlines()
    without = [line for line in lines if "mod_proxy" not in line]
    done = httpd.test("\n".join(without))
    assert done.returncode != 0
    assert "LoadModule proxy_module" in done.stdout
    without = [line for line in lines if "mod_proxy_http" not in line]
    done = httpd.test("\n".join(without))
    assert done.returncode != 0
    assert "LoadModule proxy_http_module" in done.stdout


def test_no_module_for_the_protocol(httpd: Httpd) -> None:
    """Only http needs one."""
    app = httpd.app("shop", "AppProtocol http")

    def check() -> subprocess.CompletedProcess[str]:
        lines = httpd.configure().read_text().splitlines()
        return httpd.test("\n".join(line for line in lines
                                    if "mod_proxy_http" not in line))

    done = check()
    assert done.returncode != 0
    assert "AppProtocol http needs mod_proxy_http: add " \
        '"LoadModule proxy_http_module' in done.stdout
    assert str(app.root) in done.stdout
    for protocol in ("fcgi", "scgi", "uwsgi"):
        app.directives[0] = f"AppProtocol {protocol}"
        done = check()
        assert done.returncode == 0, done.stdout


def test_loaded_before_mod_proxy(httpd: Httpd) -> None:
    """One LoadModule line is enough, in any order."""
    httpd.app("shop")
    lines = httpd.configure().read_text().splitlines()
    ours = [line for line in lines if "apppool_module" in line]
    others = [line for line in lines if "apppool_module" not in line]
    first = next(n for n, line in enumerate(others) if "LoadModule" in line)
    text = "\n".join(others[:first] + ours + others[first:])
    done = httpd.test(text)
    assert done.returncode == 0, done.stdout


def test_nothing_in_htaccess(httpd: Httpd) -> None:
    httpd.log.expect("AppRoot not allowed here")
    httpd.directives.append(f'<Directory "{httpd.dir}/htdocs">\n'
                            "AllowOverride All\n</Directory>")
    htaccess = Path(httpd.dir / "htdocs" / ".htaccess")
    htaccess.write_text("AppRoot /tmp\n")
    (httpd.dir / "htdocs" / "file").write_text("x")
    httpd.start()
    assert httpd.get("/file").status == 500


@pytest.mark.parametrize("file, directive, warned", [
    ("config.ru", "", True), ("index.php", "", False),
    ("index.php", "AppProtocol http", True),
    ("index.php", "AppCommand gunicorn", True),
    ("public/index.php", "", True)])
def test_application_in_document_root(httpd: Httpd, file: str, directive: str,
                                      warned: bool) -> None:
    """Its files can be downloaded. PHP files are run if the application is
    laid out like that."""
    app = httpd.app("shop", *filter(None, [directive]), command=None)
    (app.root / file).touch()
    app.public = app.root
    checked = httpd.test()
    assert checked.returncode == 0, checked.stdout
    assert ("with its code and secrets" in checked.stdout) == warned


def test_no_command_found(httpd: Httpd) -> None:
    """An AppRoot in which no application is recognised."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    httpd.app("shop", command=None)
    done = httpd.test()
    if done.returncode == 0:
        httpd.start()
        assert httpd.get("/", "shop").status in (502, 503)
        httpd.log.wait_for("AppCommand")
    else:
        assert "AppCommand" in done.stdout


@pytest.mark.parametrize("protocol", ["fcgi", "scgi", "uwsgi"])
def test_warm_up_is_http(httpd: Httpd, protocol: str) -> None:
    """AppReady /path cannot be used with another protocol."""
    app = httpd.app("shop", f"AppProtocol {protocol}", "AppReady /up")
    done = httpd.test()
    assert done.returncode != 0
    assert f"AppReady /up needs AppProtocol http, and AppProtocol is " \
        f"{protocol}" in done.stdout
    app.directives[-1] = "AppReady notify"
    assert httpd.test().returncode == 0


@pytest.mark.parametrize("what, one, other", [
    ("AppUser", "AppUser www-data", "AppUser nobody"),
    ("AppUser", "AppUser www-data", "AppUser www-data nogroup"),
    ("AppEnvironment", "AppEnvironment a", "AppEnvironment b"),
    ("AppListen", "AppListen unix", "AppListen tcp"),
    ("AppSetEnv", "AppSetEnv A b", "AppSetEnv A c")])
def test_one_name_two_ways(httpd: Httpd, what: str, one: str,
                           other: str) -> None:
    """Two different apps with one group name: the error names both places."""
    root = httpd.dir / "shop"
    for name, directive in (("shop", one), ("blog", other)):
        httpd.app(name, "AppGroupName both", directive, root=root,
                  command="/bin/true")
    done = httpd.test()
    assert done.returncode != 0
    line, = [line for line in done.stdout.splitlines() if "both" in line]
    assert f"do not have the same {what};" in line
    assert line.count("line ") == 2 and "AppGroupName" in line


def test_prestart_of_nothing(httpd: Httpd) -> None:
    """AppPreStart without a minimum starts nothing: httpd -t warns."""
    app = httpd.app("shop", "AppPreStart On", command="/bin/true")
    done = httpd.test()
    assert done.returncode == 0, done.stdout
    assert "starts nothing, because MinInstances is 0" in done.stdout
    app.directives.append("MinInstances 1")
    assert "starts nothing" not in httpd.test().stdout


def test_more_instances_than_the_pool_has(httpd: Httpd) -> None:
    """The warning has both numbers, and the line of the configuration."""
    app = httpd.app("shop", "MaxInstances 7", command="/bin/true")
    done = httpd.test()
    assert done.returncode == 0, done.stdout
    line, = [line for line in done.stdout.splitlines() if "MaxInst" in line]
    assert "MaxInstances 7 is above MaxPoolSize 6" in line
    assert f"{app.root} (line " in line
    app.directives[-1] = "MaxInstances 6"
    assert "MaxInstances" not in httpd.test().stdout


def test_root_without_rights(httpd: Httpd) -> None:
    """httpd -t gives the error that the first request would get."""
    app = httpd.app("shop", "AppUser www-data", command="/bin/true")
    os.chown(app.root, 0, 0)
    app.root.chmod(0o700)
    done = httpd.test()
    assert done.returncode == 0, done.stdout
    assert f"AppRoot {app.root} (" in done.stdout
    assert "may not be entered by www-data" in done.stdout


def test_one_app_with_two_limits(httpd: Httpd) -> None:
    """The settings of the first section apply, and httpd -t warns."""
    for name in ("shop", "blog"):
        httpd.app(name, "AppGroupName both", root=httpd.dir / "shop",
                  command="/bin/true")
    assert "with other limits" not in httpd.test().stdout
    for directive, case in cases((
            "AppReady /up", "AppMemoryLimit 1G", "AppStartTimeout 5",
            "AppStopTimeout 5", "AppHungAfter 5", "AppHungStopTimeout 1",
            "MaxRequests 7", "RLimitCPU 100", "AppLog /dev/null",
            "AppRestartDir /tmp", "AppPreStart On", "AppRetireTimeout 1",
            "AppStopSignal INT", "AppNoNewPrivileges Off")):
        httpd.apps[1].directives.append(directive)
        done = httpd.test()
        with case:
            assert done.returncode == 0, done.stdout
            assert "with other limits; those of " in done.stdout
        httpd.apps[1].directives.pop()


@pytest.mark.parametrize("lines,wrong", [
    (["AppHungAfter 5", "AppKillAfter 4999ms"], "4.999 s"),
    (["AppHungAfter 1h"], "1800 s"),
    (["AppHungAfter 5", "AppKillAfter 5s"], None),
    (["AppHungAfter 1h", "AppKillAfter 0"], None),
    (["AppHungAfter 0", "AppKillAfter 1"], None)])
def test_kill_before_hung(httpd: Httpd, lines: list[str],
                          wrong: Optional[str]) -> None:
    """P14: AppKillAfter must not be below AppHungAfter"""
    httpd.app("shop", *lines, command="/bin/true")
    done = httpd.test()
    assert (done.returncode == 0) == (wrong is None), done.stdout
    if wrong:
        line, = [line for line in done.stdout.splitlines() if "Kill" in line]
        assert f"AppKillAfter, {wrong}, is below AppHungAfter" in line
        assert "line " in line
