# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A private httpd: its directory, its port, its processes."""
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Optional

from harness import cgroups, config, leftovers, procs, sanitizer, stacks
from harness.client import Connection, Pending, Response, fetch
from harness.compiled import put_compiled
from harness.config import App
from harness.errorlog import ErrorLog
from harness.places import (APPS, BUILD, CTL, LOGS, MODULE, SAMPLE,
                            httpd_program)
from harness.ports import reserve_port
from harness.wait import wait_until

STATUS = "/apppool-status"
USER = "www-data"
# Logged when everything is set up. httpd listens some time before that.
SERVES = "resuming normal operations"
# An application's numbers before its first request has made its group.
NO_GROUP = {
    "last_error": None, "outdated": 0, "processes": [], "queue": 0,
    "requests": [], "responses": {}, "restarts": 0, "size": 0,
    "slow_start": None, "spawning": 0, "start_failures": 0, "state": None,
    "suspended": 0, "template": None}


class Httpd:
    def __init__(self, mpm: str = "event") -> None:
        # Short, for the paths of sockets. Open, because apps must enter.
        self.dir = Path(tempfile.mkdtemp(prefix="ap"))
        self.dir.chmod(0o755)
        self.mpm = mpm
        self.port, self.port_claim = reserve_port()
        # The place of the default depends on the machine. A directory with the
        # name apppool-* is removed when httpd ends; any other stays.
        self.runtime = self.dir / "apppool-p"
        self.directives = [f'AppPoolRuntimeDir "{self.runtime}"',
                           "MaxPoolSize 6"]
        self.modules: list[str] = []
        self.module, self.libexec = MODULE, BUILD
        self.apps: list[App] = []
        self.log = ErrorLog(self.dir / "error.log")
        self.process: Optional[subprocess.Popen[bytes]] = None
        self.segments: set[int] = set()
        self.instances: set[str] = set()
        self.clean = False  # it was checked that nothing is left
        self.wrapper: list[str] = []  # a command that runs httpd
        self.output = self.dir / "output"
        self.ledgers = self.dir / "ledgers"
        for name in ("htdocs", "run", "hold", "ledgers"):
            (self.dir / name).mkdir()
        for name in ("hold", "ledgers"):
            (self.dir / name).chmod(0o1777)
        self.trace = self.dir / "trace"
        self.trace.touch()
        self.trace.chmod(0o666)
        self.born = procs.now()

    # ---- configuration

    @property
    def command(self) -> str:
        """The sample app, which does what the URL says."""
        return str(SAMPLE)

    def program(self, name: str) -> Path:
        """A copy of a file or directory of apps/ that users of apps may read.
        A Python program is compiled."""
        place = self.dir / "apps"
        place.mkdir(exist_ok=True)
        if name.endswith(".py"):
            return put_compiled(name, place)
        if (APPS / name).is_file():
            shutil.copy(APPS / name, place / name)
        elif not (place / name).exists():
            shutil.copytree(APPS / name, place / name)
        return place / name

    def command_of(self, program: str) -> str:
        return f"/usr/bin/python3 -IS {self.program(program)}"

    def app(self, name: str, *directives: str, command: Optional[str] = "",
            location: Optional[str] = None, root: Optional[Path] = None,
            program: str = "") -> App:
        """Add an app: the sample app, another program of apps/, or any command.
        Without a command, the module detects one."""
        root = root or self.dir / name
        for place in (root, root / "public", root / "tmp"):
            place.mkdir(exist_ok=True)
            shutil.chown(place, USER, USER)
        app = App(name, root, directives, command, location)
        if command == "":
            app.command = self.command_of(program) if program else self.command
            app.directives += [f"AppSetEnv APP_NAME {name}",
                               f"AppSetEnv HOLD_DIR {self.dir}/hold",
                               f"AppSetEnv LEDGER_DIR {self.ledgers}",
                               f"AppSetEnv APP_TRACE {self.trace}"]
        self.apps.append(app)
        return app

    def configure(self) -> Path:
        path = self.dir / "httpd.conf"
        path.write_text(config.write(self.dir, self.port, self.mpm,
                                     self.directives, self.apps,
                                     self.modules, self.module,
                                     self.libexec))
        return path

    def test(self, text: Optional[str] = None
             ) -> subprocess.CompletedProcess[str]:
        """httpd -t with this text in place of the configuration."""
        path = self.configure()
        if text is not None:
            path.write_text(text + "\n")
        return subprocess.run(
            [*self.wrapper, httpd_program(), "-t", "-f", str(path)], text=True,
            env=sanitizer.environment(), stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=60)

    # ---- start and stop

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def start(self, *words: str) -> "Httpd":
        before = len(self.log.matching(SERVES))
        self.launch(*words)
        logs_it = "-X" not in words  # nor when it is the only process
        wait_until(lambda: self.listening() and not (
            logs_it and len(self.log.matching(SERVES)) == before),
            "httpd listens, and serves", 40)
        return self

    def launch(self, *words: str) -> None:
        """Start httpd and do not wait for it."""
        words = words or ("-DFOREGROUND",)
        with open(self.output, "ab") as output:
            self.process = subprocess.Popen(
                [*self.wrapper, httpd_program(), *words, "-f",
                 str(self.configure())],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                env=sanitizer.environment(), start_new_session=True)

    def listening(self) -> bool:
        assert self.process is not None
        if self.process.poll() is not None:
            raise AssertionError(
                f"httpd ended with {self.process.returncode}:\n"
                + self.output.read_text(errors="replace")
                + "\n".join(self.log.lines()))
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def graceful(self) -> None:
        """Reload; returns when the new configuration is in force."""
        self.configure()
        before = len(self.log.matching(SERVES))
        old = self.children()
        os.kill(self.pid, signal.SIGUSR1)
        wait_until(lambda: len(self.log.matching(SERVES)) > before,
                   "httpd resumed", 40)
        wait_until(lambda: not self.accepting(old), "the old children "
                   "know it, which may accept one more until then", 40)

    def accepting(self, pids: list[int]) -> list[int]:
        """The pids of the processes that wait for connections."""
        ours = procs.listening(self.port)
        return [pid for pid in pids if ours & procs.sockets(pid)]

    def restart(self) -> None:
        """A hard restart: children and apps are ended first."""
        self.configure()
        before = len(self.log.matching(SERVES))
        self.begin_stop(signal.SIGHUP)
        wait_until(lambda: len(self.log.matching(SERVES)) > before,
                   "httpd resumed", 40)

    def begin_stop(self, sign: int = signal.SIGTERM, parent: int = 0) -> None:
        """Send its parent a signal that ends all children.
        @param parent its pid, if it is not the process that was started"""
        self.log.stops.append(time.time())
        os.kill(parent or self.pid, sign)

    def stop(self, bound: float = 45.0, sign: int = signal.SIGTERM) -> None:
        """Stop, and wait for the end."""
        if self.process is None:
            return
        if self.process.poll() is None:
            self.note_segments()
            self.begin_stop(sign)
            stacks.wait_for_end(self.process, bound)
        code = self.process.returncode
        assert code >= 0 or (self.pid, -code) in procs.SENT, \
            f"httpd ended by signal {-code}"

    def damage(self) -> list[str]:
        """Reports of sanitizers, about httpd and our programs."""
        printed = self.output.read_text(errors="replace") \
            if self.output.exists() else ""
        return sanitizer.reports("\n".join(self.log.lines()), printed)

    def note_segments(self) -> None:
        """Record our shared memory and the name of the instance."""
        for pid in (self.pid, *procs.children_at_once(self.pid)):
            self.segments |= procs.segments(pid)
        instance = self.runtime / "instance"
        if instance.exists():
            self.instances.add(instance.read_text())

    def remains(self) -> list[str]:
        """What a stopped httpd has left, although it should not."""
        left = leftovers.processes(self.dir, self.segments, self.born) \
            + leftovers.files(self.dir) + leftovers.cgroups(self.instances)
        self.clean = not left
        return left

    def instance_files(self) -> list[Path]:
        """Those of all pools. Flask has directories of that name."""
        return [path for path in self.dir.rglob("instance")
                if path.is_file()]

    def keep_logs(self, name: str) -> Path:
        """Print what helps to understand a failure, and keep it."""
        kept = LOGS / name.replace("/", "_")
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir(parents=True)
        for file in ("httpd.conf", "error.log", "output", "trace", "record"):
            if (self.dir / file).exists():
                shutil.copy(self.dir / file, kept / file)
        print("\n".join((f"---- {kept}", *self.log.lines()[-60:])))
        return kept

    def destroy(self) -> None:
        """End all processes that are left, by pid, and remove the files."""
        for file in self.instance_files():
            self.instances.add(file.read_text())
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait(40)
        for _ in range(0 if self.clean else 50):
            left = list(procs.marked(str(self.dir), self.born))
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            if not left:
                break
        for instance in self.instances:
            cgroups.remove(instance)
        self.port_claim.close()
        shutil.rmtree(self.dir, ignore_errors=True)

    # ---- its processes

    def children(self) -> list[int]:
        """The watchdog is none, also when it has no command line yet."""
        return procs.copies(self.pid)

    def spools(self) -> list[str]:
        """Temporary files of bodies and responses that are not empty."""
        return [name for pid in self.children()
                for name in procs.open_files(pid, filled=True)
                if procs.is_spool(name)]

    def helpers(self, name: str) -> list[int]:
        """All processes of apppool-watchdog or apppool-spawner."""
        return [pid for pid in procs.newer(self.born)
                if f"apppool-{name}" in procs.command(pid)
                and procs.is_marked(pid, str(self.dir))
                and procs.executed(pid)]

    def helper(self, name: str) -> int:
        """The only process of this helper."""
        return wait_until(lambda: self.helpers(name),
                          f"apppool-{name} runs")[0]

    def spawner_now(self) -> int:
        """Pid of the spawner, or 0."""
        try:
            pid = int((self.runtime / "spawner.pid").read_text().split()[0])
        except (FileNotFoundError, IndexError):
            return 0
        return pid if procs.alive(pid) else 0

    def watchdog_now(self) -> int:
        """Pid of the watchdog, or 0."""
        for pid in procs.children(self.pid):
            if "apppool-watchdog" in procs.command(pid):
                return pid
        return 0

    # ---- requests

    def request(self, method: str, path: str, host: str = "status",
                body: Any = None, headers: Optional[dict[str, str]] = None,
                timeout: float = 40.0, chunked: bool = False) -> Response:
        connection = Connection(self.port, timeout)
        try:
            return connection.request(
                method, path, host, body,
                {"Connection": "close", **(headers or {})}, chunked)
        finally:
            connection.close()

    def get(self, path: str, host: str = "status", **more: Any) -> Response:
        return self.request("GET", path, host, **more)

    def post(self, path: str, host: str, body: Any, **more: Any) -> Response:
        return self.request("POST", path, host, body, **more)

    def get_async(self, path: str, host: str,
                  timeout: float = 40.0) -> Pending:
        return Pending(Connection(self.port, timeout), "GET", path, host,
                       headers={"Connection": "close"})

    def child_of(self, pending: Pending) -> int:
        """The httpd child that serves this request."""
        return procs.socket_owner(self.children(), self.port,
                                  pending.connection.local_port())

    def hold(self, host: str, key: str, path: str = "/hold") -> "Held":
        """A request to which the app responds after release()."""
        held = Held(self, host, key, path)
        wait_until(lambda: held.held.exists() or held.pending.done(),
                   f"{host} holds {key}")
        assert held.held.exists(), held.pending.result().body
        return held

    def hold_async(self, host: str, key: str, path: str = "/hold") -> "Held":
        """The same, without waiting until the request has reached the app."""
        return Held(self, host, key, path)

    def requests_seen(self) -> list[str]:
        """NAME PID METHOD PATH of each request that reached an app."""
        return self.trace.read_text().splitlines()

    # ---- the pool

    def status(self) -> dict[str, Any]:
        status, body = fetch(self.port, f"{STATUS}?json", "status")
        assert status == 200, body
        return json.loads(body)

    def pool(self, key: str) -> int:
        return self.status()["pool"][key]

    def counts(self) -> tuple[int, int, int]:
        """active, count, waiting"""
        pool = self.status()["pool"]
        return pool["active"], pool["count"], pool["waiting"]

    def settles(self, active: int, count: int, waiting: int = 0) -> None:
        """Wait until the pool has these numbers."""
        want = (active, count, waiting)
        wait_until(lambda: self.counts() == want,
                   f"active, count, waiting are {want} and not "
                   f"{self.counts()}")

    def group(self, app: App) -> dict[str, Any]:
        """As the status shows it. The first request of the application makes
        it, and it may still be on its way."""
        for group in self.status()["groups"]:
            if group["app_root"] == str(app.root):
                return group
        return dict(NO_GROUP)

    def pids(self, app: App, *states: str) -> list[int]:
        """Its processes in these states. The default: idle or busy."""
        return sorted(process["pid"]
                      for process in self.group(app)["processes"]
                      if process["state"] in (states or ("idle", "busy")))

    def events(self, name: str) -> list[dict[str, Any]]:
        return [event for event in self.status()["events"]
                if event["event"] == name]

    def ctl(self, *words: str) -> subprocess.CompletedProcess[str]:
        """apppoolctl, for this httpd's pool."""
        where = ["nsenter", f"--mount=/proc/{self.pid}/ns/mnt"] \
            if "unshare" in self.wrapper else []
        return subprocess.run(
            [*where, str(CTL), "--dir", str(self.runtime), *words], text=True,
            capture_output=True, timeout=60)

    def check(self) -> None:
        """The invariants hold on the live segment."""
        done = self.ctl("check")
        assert done.returncode == 0, done.stdout + done.stderr


class Held:
    """A request to which the sample app responds after release()."""

    def __init__(self, httpd: Httpd, host: str, key: str, path: str) -> None:
        self.held = httpd.dir / "hold" / f"{key}.held"
        self.go = httpd.dir / "hold" / f"{key}.go"
        self.pending = httpd.get_async(f"{path}?key={key}", host,
                                       timeout=240.0)

    @property
    def pid(self) -> int:
        return int(wait_until(
            lambda: self.held.exists() and self.held.read_text(),
            "the app has the request"))

    def release(self) -> Response:
        self.go.touch()
        return self.pending.result()
