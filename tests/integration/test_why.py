# Licensed under the Apache License, Version 2.0; see LICENSE.
"""apppoolctl status --all, status --problems and why: names, users, JSON and
exit statuses. test_symptoms.py looks at the sentences."""
import json
import os
import signal
import socket
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from harness import sentences
from harness.httpd import Httpd
from harness.places import CTL
from harness.users import as_user

pytestmark = pytest.mark.mpms("event")

OWNER, STRANGER = "games", "uucp"


def test_names_and_users(httpd: Httpd) -> None:
    """An app is found as other commands find it; a user finds only its own."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    httpd.app("fine")
    httpd.app("spaced", 'AppGroupName "caf\u00e9 of $(bob)\u00e8"')
    for place in ("alice", "bob"):
        (httpd.dir / place).mkdir()
        httpd.app(f"{place}-shop", f"AppUser {OWNER}",
                  root=httpd.dir / place / "shop")
    httpd.app("broken", f"AppUser {OWNER}", command="/bin/sh -c 'exit 3'")
    httpd.start()
    assert httpd.get("/pid", "spaced").status == 200
    assert httpd.get("/pid", "broken").status == 502

    done = httpd.ctl("status", "--all")
    assert (done.returncode, done.stderr) == (0, "")
    head, *lines = done.stdout.splitlines()
    assert head.split() == ["STATE", "PROC", "QUEUE", "USER", "APP"]
    assert [line.split()[0] for line in lines] == [
        "unused", "running", "unused", "unused", "failing"]
    assert lines[1].endswith("caf\u00e9 of $(bob)\u00e8")
    assert lines[4].split()[3] == OWNER

    done = httpd.ctl("status", "--problems")
    assert done.returncode == 4
    assert done.stdout.startswith("failing     ") and "exit code 3" in \
        done.stdout and done.stdout.count("\n") == 1
    problem, = json.loads(httpd.ctl("--json", "status", "--problems").stdout)
    assert set(problem) == {"app", "kind", "text"}
    done = httpd.ctl("status", "--problems", "fine")
    assert (done.returncode, done.stdout) == (0, "nothing is wrong\n")

    for word in ("caf\u00e9 of $(bob)\u00e8", "alice/shop", "fine",
                 str(httpd.dir / "fine")):
        assert httpd.ctl("why", word).returncode == 0, word
    for word, said in (
            ("shop", "more than one app has the name shop: the nearest: "
             f'"{httpd.dir}/alice/shop (production)", '
             f'"{httpd.dir}/bob/shop (production)"'),
            ("fnie", 'no app has the name fnie: the nearest: "fine"'),
            ("alice/shp", 'no app has the name alice/shp: the nearest: '
             '"alice/shop"'),
            ("nothing", "no app has the name nothing: none looks like it")):
        done = httpd.ctl("why", word)
        assert (done.returncode, done.stdout) == (1, "")
        assert said in done.stderr, done.stderr

    done = httpd.ctl("--json", "why", "broken")
    found = json.loads(done.stdout)
    assert done.returncode == 4 and found["wrong"] is True
    assert [one["kind"] for one in found["problems"]] == ["failing"]
    assert any("the last start failed" in one for one in found["sentences"])

    done = as_user(httpd, OWNER, "why", "broken")
    assert done.returncode == 4 and "exit code 3" in done.stdout
    assert "MaxPoolSize" not in done.stdout
    done = as_user(httpd, OWNER, "why", "fine")
    assert done.returncode == 1 and "no app has the name fine" in done.stderr
    done = as_user(httpd, OWNER, "status", "--all")
    assert done.stdout.count("\n") == 4 and "fine" not in done.stdout
    assert as_user(httpd, OWNER, "status", "--problems").returncode == 4
    assert httpd.ctl("drain", "caf\u00e9 of $(bob)\u00e8").returncode == 0
    assert "apppoolctl restart 'caf\u00e9 of $(bob)\u00e8' puts it back" in \
        httpd.ctl("why", "caf\u00e9 of $(bob)\u00e8").stdout
    for words in (["why", "fine"], ["status", "--all"]):
        done = as_user(httpd, STRANGER, *words)
        assert done.returncode == 1 and "only root, the user" in done.stderr


@pytest.mark.parametrize("words, reason", [
    (["status", "--all", "--problems"], "use either --all or --problems"),
    (["status", "--all", "shop"], "--all does not take shop"),
    (["check", "--all"], "check does not take --all"),
    (["top", "--problems"], "top does not take --problems"),
    (["why"], "why needs the name of an app"),
    (["why", "shop", "blog"], "why does not take blog"),
    (["doctor", "httpd", "-f", "x"], "doctor does not take ")])
def test_wrong_words(words: list[str], reason: str) -> None:
    done = subprocess.run([str(CTL), *words], capture_output=True, text=True,
                          timeout=40)
    assert done.returncode == 2
    assert reason in done.stderr


def test_no_server(httpd: Httpd) -> None:
    for words in (["why", "shop"], ["status", "--all"],
                  ["status", "--problems"]):
        done = subprocess.run([str(CTL), "--dir", str(httpd.dir), *words],
                              capture_output=True, text=True, timeout=40)
        assert (done.returncode, done.stdout) == (3, "")
        assert "no httpd with mod_apppool runs" in done.stderr


def test_output_that_nobody_reads(httpd: Httpd) -> None:
    """The commands end when their pipe is closed."""
    httpd.app("shop")
    httpd.start()
    for words in (["why", "shop"], ["status", "--all"], ["doctor"],
                  ["status", "--problems"], ["top", "-n", "2"]):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run(
            [str(CTL), "--dir", str(httpd.runtime), *words], stdout=writer,
            stderr=subprocess.PIPE, timeout=60, text=True,
            restore_signals=words[0] == "top")
        os.close(writer)
        assert done.returncode in (1, -signal.SIGPIPE), words


def test_server_of_another_build(tmp_path: Path) -> None:
    """It does not know the list of applications, or sends what nobody
    expects."""
    for answer, words, said in (
            ({"groups": [], "pool": {}}, ["status", "--all"], "older build"),
            ({"groups": [], "pool": {}}, ["why", "shop"], "another build"),
            ([1], ["status", "--problems"], "not a report"),
            ({"error": "no \33[2J"}, ["status", "--all"], "no ?[2J"),
            ({"groups": [{"name": 3, "state": {}, "processes": 7}],
              "configured": [{"name": "shop", "label": "shop"}, 5, {}]},
             ["why", "shop"], "")):
        with socket.socket(socket.AF_UNIX) as server:
            path = tmp_path / "control.sock"
            path.unlink(missing_ok=True)
            server.bind(str(path))
            server.listen()
            thread = threading.Thread(target=serve, args=(server, answer))
            thread.start()
            done = subprocess.run([str(CTL), "--dir", str(tmp_path), *words],
                                  text=True, capture_output=True, timeout=60)
            server.shutdown(socket.SHUT_RDWR)
            thread.join()
        assert done.returncode in (0, 1), words
        assert said in done.stderr and "\33" not in done.stderr


def serve(server: socket.socket, answer: Any) -> None:
    """Each client gets this answer, until the socket is closed."""
    try:
        while True:
            client, _ = server.accept()
            client.recv(1024)
            client.sendall(json.dumps(answer).encode())
            client.close()
    except OSError:
        pass
