# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The packages in a virtual machine, where systemd runs httpd, and cgroup v2 has
all its controllers: scenes.py PLACE. PLACE has the image of image.sh. The scenes
follow each other. scenes.py names: print their names."""
import json
import random
import re
import sys
import time
from pathlib import Path

from inside import (ON_DISK, RUNTIME, UNIT, begin_load, cgroups,
                    configure, ctl, drop_in, drop_out, get, groups, httpd, ids,
                    instances, left_behind, load, log, missing, nothing_runs,
                    ours, pid_of, put, serves, show, until, vm)
from steps import run

# httpd has to read all this without the module, too: `remove` reloads it.
SITE = """
<IfModule apppool_module>
<VirtualHost *:80>
    ServerName     {name}.test
    DocumentRoot   /srv/{name}/public
    AppRoot        /srv/{name}
    AppStopTimeout 3
    AppStartTimeout 900
    {more}
    <Directory /srv/{name}/public>
        Require all granted
    </Directory>
</VirtualHost>
</IfModule>
"""
SHOP = "MinInstances 2\n    AppPreStart On\n    AppStore 64M"
BLOG = "MaxInstances 1\n    PoolIdleTime 20"


# ---- the packages

def boot() -> None:
    """Debian's systemd has cgroups of version 2 alone, with all controllers."""
    began = time.monotonic()
    vm.boot()
    print(f"the agent runs after {time.monotonic() - began:.0f} s")
    state = vm.run("systemctl is-system-running --wait")[1].strip()
    assert state == "running", vm.shell("systemctl --failed")
    assert vm.shell("stat -f -c %T /sys/fs/cgroup").strip() == "cgroup2fs"
    assert " - cgroup " not in vm.shell("cat /proc/self/mountinfo")
    controllers = vm.shell("cat /sys/fs/cgroup/cgroup.controllers").split()
    assert {"cpuset", "cpu", "io", "memory", "pids"} <= set(controllers)
    print(vm.shell("uname -r").strip(), *controllers)


def install() -> None:
    """httpd runs, and is not restarted."""
    before = httpd()
    assert before and show("Delegate") == "no"
    said = vm.shell("DEBIAN_FRONTEND=noninteractive apt-get -q -y install "
                    "/packages/this.deb", 1800)
    assert httpd() == before, said
    assert show("Delegate") == "yes"
    until(lambda: "apppool" in vm.shell("apache2ctl -M"), "it is loaded")
    vm.shell("getent passwd apppool-store")


def first_page() -> None:
    """What the package's autopkgtest does."""
    began = time.monotonic()
    assert "the first page" in vm.shell("sh /packages/first-page")
    print(f"the first page after {time.monotonic() - began:.1f} s")


def add(name: str, more: str) -> None:
    vm.shell(f"mkdir -p /srv/{name}/public && cp /vm/wsgi.py /srv/{name}/ && "
             f"chown -R daemon:daemon /srv/{name} && "
             f"cat >/etc/apache2/sites-available/{name}.conf <<'EOT'\n"
             f"{SITE.format(name=name, more=more)}\nEOT\na2ensite -q {name}")


# ---- cgroups

def each_process_has_a_cgroup() -> None:
    """It has an own one, with all that it starts. systemd leaves them alone."""
    add("shop", SHOP)
    add("blog", BLOG)
    configure("log", "ServerName guest\n<IfModule apppool_module>\n"
              "LogLevel warn apppool:info\n</IfModule>")
    vm.shell("systemctl restart apache2")
    until(lambda: len(ids("shop")) == 2, "the pool starts it")
    assert show("ControlGroup") == "/system.slice/apache2.service"
    place, = instances()
    assert any(line.endswith(f"are found by cgroup, in {place}")
               for line in log()), log()
    get("/leave")
    vm.shell("systemctl daemon-reload")
    left = {int(line.split()[0]) for line in left_behind()}
    assert left
    there, known = cgroups(), ids("shop")
    assert set(there) == set(known.values())
    assert all(pid in there[known[pid]] for pid in known), (there, known)
    with_both, = (pids for pids in there.values() if len(pids) > 1)
    assert len(with_both) >= 2, there
    assert len(left & with_both) >= 1, (left, with_both)
    tree = vm.shell("systemctl status --no-pager -n 0 apache2")
    assert all(name in tree for name in known.values()), tree
    doctor = json.loads(ctl("--json doctor"))
    assert doctor["wrong"] == 0, doctor


Process = tuple[int, str]  # pid and id


def leaver_and_other() -> list[Process]:
    """The process that /leave was sent to, and the other one."""
    there = cgroups()
    return sorted(ids("shop").items(), key=lambda one: -len(there[one[1]]))


def gone(*old: Process, but: str = "") -> None:
    """These processes, all that they have started, and their cgroups. What is in
    the cgroup of that other one stays."""
    until(lambda: not {each for _, each in old} & set(cgroups()),
          "their cgroups are gone")
    for pid, _ in old:
        assert vm.run(f"test -e /proc/{pid}")[0] == 1, pid
    left = {int(line.split()[0]) for line in left_behind()}
    if but:
        assert left & cgroups()[but]
    else:
        until(lambda: left_behind() == [], "nothing is left behind")


def restart_of_an_application() -> None:
    old = ids("shop")
    get("/leave")
    ctl("restart shop")
    gone(*old.items())
    until(lambda: len(ids("shop")) == 2, "there are others")
    assert not set(old) & set(ids("shop"))


def death_of_a_process() -> None:
    """What another process has started stays."""
    until(lambda: len(ids("shop")) == 2, "both run")
    get("/leave")
    leaver, other = leaver_and_other()
    vm.shell(f"kill -9 {other[0]}")
    gone(other, but=leaver[1])
    vm.shell(f"kill -9 {leaver[0]}")
    gone(leaver)


def idle_end() -> None:
    get("/leave", "blog.test")
    old = ids("blog")
    assert len(old) == 1
    gone(*old.items())
    assert groups()["blog"]["processes"] == []


def death_of_the_spawner() -> None:
    """The next one ends what a process has left while there was none."""
    until(lambda: len(ids("shop")) == 2, "both run")
    spawner = pid_of("apppool-spawner")
    get("/leave")
    leaver, other = leaver_and_other()
    vm.shell(f"kill -9 {spawner} {leaver[0]}")
    gone(leaver)
    until(lambda: pid_of("apppool-spawner") != spawner, "there is another one")
    assert other[0] in ids("shop")
    until(lambda: len(ids("shop")) == 2, "the dead one is replaced")
    ctl("check")


# ---- systemctl

def reload_under_load() -> None:
    before, children = ids("shop"), vm.shell(f"pgrep -P {httpd()} -x apache2")
    main = httpd()
    with load():
        for _ in range(3):
            vm.shell("systemctl reload apache2")
            until(lambda: not set(children.split()) & set(vm.shell(
                f"pgrep -P {main} -x apache2 || true").split()),
                "httpd has new children")
            children = vm.shell(f"pgrep -P {main} -x apache2")
    assert httpd() == main and show("NRestarts") == "0"
    assert before.items() <= ids("shop").items(), (before, ids("shop"))


def restart() -> None:
    """All is new, and the store has what it had."""
    put(0, 200)
    old, main, instance = ids(), httpd(), instances()
    get("/leave")
    vm.shell("systemctl restart apache2")
    assert httpd() != main
    until(serves, "it serves")
    gone(*old.items())
    assert len(instances()) == 1 and instances() != instance
    assert missing(0, 200) == []


def stop() -> None:
    """Nothing is left but what the store has saved."""
    get("/leave")
    vm.shell("systemctl stop apache2")
    assert show("Result") == "success"
    nothing_runs()
    assert vm.shell("ls -A /dev/shm") == ""
    print("left:", *vm.shell(f"find {RUNTIME} /var/lib/apppool").split())
    assert vm.shell(f"find {RUNTIME} -mindepth 1 ! -type d").split() == []
    vm.shell("systemctl start apache2")
    until(serves, "it serves")
    assert missing(0, 200) == []


def an_application_that_hangs() -> None:
    """A stop ends it after AppStopTimeout, before systemd's patience ends."""
    get("/leave")
    vm.shell("kill -STOP " + " ".join(map(str, ids("shop"))))
    began = time.monotonic()
    vm.shell("systemctl stop apache2")
    print(f"stopped after {time.monotonic() - began:.1f} s")
    assert show("Result") == "success"
    nothing_runs()
    vm.shell("systemctl start apache2")
    until(serves, "it serves")


# ---- deaths of httpd

def everything_is_killed() -> None:
    """systemd starts httpd again, as Debian's unit says."""
    old, main, instance = ids(), httpd(), instances()
    get("/leave")
    vm.shell(f"kill -9 {main} {pid_of('apppool-watchdog')} "
             f"{pid_of('apppool-spawner')} {pid_of('apppool-store')}")
    until(lambda: httpd() not in (0, main), "there is another httpd")
    until(serves, "it serves")
    gone(*old.items())
    assert len(instances()) == 1 and instances() != instance


def httpd_is_killed() -> None:
    """With KillMode=mixed, systemd kills all that is left of the unit at once,
    also the store. So what the store had is lost, as at a power cut."""
    put(0, 200)
    old, main, instance = ids(), httpd(), instances()
    get("/leave")
    vm.shell(f"kill -9 {main}")
    until(lambda: httpd() not in (0, main), "there is another httpd")
    until(serves, "it serves")
    gone(*old.items())
    assert len(instances()) == 1 and instances() != instance
    print(f"{len(missing(0, 200))} of 200 sessions are lost")


def httpd_is_killed_and_stays_so() -> None:
    drop_in("restart", "Restart=no")
    get("/leave")
    vm.shell(f"kill -9 {httpd()}")
    until(lambda: show("ActiveState") == "failed", "systemd gives up")
    assert show("Result") == "signal"
    nothing_runs()
    assert vm.shell("ls -A /dev/shm") == ""
    print("left:", *vm.shell(f"find {RUNTIME}").split())
    drop_out("restart")
    vm.shell("systemctl start apache2")
    until(serves, "it serves")
    assert len(vm.shell(f"ls -d {RUNTIME}/apppool-*").split()) == 1


# ---- limits

def memory_limit_of_an_application() -> None:
    """AppMemoryLimit replaces the process that has grown, and no other one."""
    add("shop", f"{SHOP}\n    AppMemoryLimit 120M")
    vm.shell("systemctl reload apache2")
    old = ids("shop")
    get("/take?mb=150")
    until(lambda: len(set(ids("shop")) & set(old)) == 1
          and len(ids("shop")) == 2, "one of them is replaced")
    gone(*(old.items() - ids("shop").items()))
    add("shop", SHOP)
    vm.shell("systemctl reload apache2")


def lift(limit: str) -> None:
    """After `revert` alone, systemd 257 leaves the limit of the cgroup for
    minutes."""
    vm.shell(f"systemctl set-property --runtime apache2 {limit}=infinity && "
             "systemctl revert apache2 && systemctl daemon-reload")


def memory_limit_of_the_unit() -> None:
    """The kernel kills the process that has grown. httpd, the store and all other
    applications go on."""
    put(0, 200)
    old, main, store = ids("shop"), httpd(), pid_of("apppool-store")
    used = int(vm.shell(f"cat {UNIT}/memory.current"))
    vm.shell("systemctl set-property --runtime apache2 "
             f"MemoryMax={used + (150 << 20)} MemorySwapMax=0")
    status, said = vm.run("curl -sS -o /dev/null -w '%{http_code}' -H "
                          "'Host: shop.test' 'http://127.0.0.1/take?mb=400'")
    assert (status, said) == (0, "502"), (status, said)
    assert re.search("oom_kill [1-9]", vm.shell(f"cat {UNIT}/memory.events"))
    until(lambda: len(ids("shop")) == 2, "it is replaced")
    assert len(set(ids("shop")) & set(old)) == 1, (old, ids("shop"))
    assert (httpd(), pid_of("apppool-store")) == (main, store)
    assert missing(0, 200) == []
    gone(*(old.items() - ids("shop").items()))
    lift("MemoryMax")
    assert show("MemoryMax") == "infinity"


def limit_of_tasks() -> None:
    """An application that cannot start any process gets an error. httpd
    serves."""
    now = int(vm.shell(f"cat {UNIT}/pids.current"))
    vm.shell(f"systemctl set-property --runtime apache2 TasksMax={now}")
    status, said = vm.run("curl -sS -o /dev/null -w '%{http_code}' -H "
                          "'Host: shop.test' 'http://127.0.0.1/leave'")
    assert (status, said) == (0, "500"), (status, said)
    assert serves()
    lift("TasksMax")
    until(lambda: serves("/leave"), "it has processes again")
    ctl("restart shop")
    until(lambda: left_behind() == [], "nothing is left behind")


def sandbox() -> None:
    """The settings of doc/systemd.md: with and without cgroups."""
    for found, lines in (
            ("by cgroup", ("ProtectSystem=strict",
                           "ReadWritePaths=/run /var/log/apache2 /var/lib/apppool",
                           "NoNewPrivileges=yes", "PrivateDevices=yes")),
            ("by session and environment", ("ProtectControlGroups=yes",
                                            "ProtectSystem=full"))):
        drop_in("sandbox", *lines)
        before = len(log())
        vm.shell("systemctl restart apache2")
        until(serves, "it serves")
        assert any(found in line for line in log()[before:]), log()[before:]
        old = ids("shop")
        ctl("restart shop")
        until(lambda: len(ids("shop")) == 2 and not set(ids("shop")) & set(old),
              "others replace them")
        drop_out("sandbox")
    vm.shell("systemctl restart apache2")
    until(serves, "it serves")


# ---- the machine goes down

def reboot() -> None:
    """All comes up by itself, with all sessions."""
    put(0, 3000)
    old = ids()
    get("/leave")
    before = vm.shell("cat /proc/sys/kernel/random/boot_id").strip()
    vm.end_by("systemctl --no-block reboot")
    assert vm.boot() != before
    until(lambda: len(ids("shop")) == 2, "the pool starts it")
    assert missing(0, 3000) == []
    assert any("from the file of the last stop" in line for line in log())
    assert len(instances()) == 1 and old
    assert set(cgroups()) == set(ids().values())


def cut_after_a_stop() -> None:
    """What was saved is on the disk when systemctl has returned."""
    put(3000, 4000)
    vm.shell("systemctl stop apache2")
    vm.cut()
    vm.boot()
    until(serves, "it serves")
    assert missing(0, 4000) == []


def power_cuts() -> None:
    """Under load, while the store saves each second. The runtime directory is on
    the disk, so what it has is left over, too."""
    configure("store", "AppStoreSave /srv/sessions 1s\n"
              f"AppPoolRuntimeDir {ON_DISK}")
    vm.shell("systemctl restart apache2")
    until(serves, "it serves")
    end = 2000
    put(0, end)
    for cut in (1, 2, 3):
        begin_load()
        get("/leave")
        promised, end = sessions_until_a_cut(end)
        vm.boot()
        until(lambda: len(ids("shop")) == 2, "the pool starts it")
        what_a_cut_has_left(cut, promised, end)
        put(promised, end)
    vm.shell("rm /etc/apache2/conf-enabled/store.conf; "
             f"systemctl restart apache2; rm -r /srv/sessions* {ON_DISK}")


def sessions_until_a_cut(end: int) -> tuple[int, int]:
    """Put them, from number `end` on, and cut the power at a moment by chance. A
    session is promised if a save began after the store had acknowledged it, and
    ended: the third change of the newest file shows that.
    @return the end of those that are promised, and of all"""
    saves, newest = 0, ""
    acknowledged = []  # the number of saves, and the end of the sessions
    more = random.uniform(0, 3)  # s
    last = float("inf")
    while time.monotonic() < last:
        put(end, end + 50)
        end += 50
        now = vm.shell("ls -t /srv/sessions*").split()[0]
        if now != newest:
            saves, newest = saves + 1, now
        acknowledged.append((saves, end))
        if saves == 4:
            last = min(last, time.monotonic() + more)
    vm.cut()
    return max(upto for n, upto in acknowledged if n + 3 <= saves), end


def what_a_cut_has_left(cut: int, promised: int, end: int) -> None:
    lost = missing(0, end)
    print(f"cut {cut}: {end} sessions, {promised} promised, {len(lost)} lost")
    assert not [n for n in lost if n < promised], (promised, lost)
    text = "\n".join(log()).rpartition("resuming normal operations")[2]
    assert re.search("loaded .* from the file that was saved .*"
                     "damaged places: 0$", text, re.M), text
    assert set(cgroups()) == set(ids().values()) and left_behind() == []
    ctl("check")


# ---- the end

def no_child_has_crashed() -> None:
    bad = [line for line in log() if re.search(
        r"exit signal|:(crit|alert|emerg)\]|invariant", line)]
    assert bad == [], bad


def remove() -> None:
    """httpd and its other sites go on."""
    main = httpd()
    vm.shell("apt-get -q -y remove libapache2-mod-apppool", 1800)
    assert httpd() == main and show("Delegate") == "no"
    assert instances() == []
    assert not [line for line in ours() if "/usr/sbin/apache2" not in line]
    assert vm.shell("find /var/lib/apppool -type f") != ""
    vm.shell("curl -sSf -o /dev/null http://127.0.0.1/")


def purge() -> None:
    vm.shell("apt-get -q -y purge libapache2-mod-apppool", 1800)
    vm.shell("systemctl restart apache2")
    assert vm.shell(f"ls {RUNTIME}").split() != []
    left = vm.shell("ls -d /var/lib/apppool* 2>/dev/null; "
                    "find /run /dev/shm -name '*apppool*'")
    assert left == "", left


def power_off() -> None:
    vm.end_by("systemctl --no-block poweroff")


SCENES = [
    boot, install, first_page, each_process_has_a_cgroup,
    restart_of_an_application, death_of_a_process, idle_end,
    death_of_the_spawner, reload_under_load, restart, stop,
    an_application_that_hangs, everything_is_killed, httpd_is_killed,
    httpd_is_killed_and_stays_so, memory_limit_of_an_application,
    memory_limit_of_the_unit, limit_of_tasks, sandbox, reboot, cut_after_a_stop,
    power_cuts, no_child_has_crashed, remove, purge, power_off]

if sys.argv[1] == "names":
    print(*(scene.__name__ for scene in SCENES))
else:
    vm.place = Path(sys.argv.pop(1))
    try:
        run(SCENES)  # type: ignore[arg-type]
    finally:
        vm.cut()
