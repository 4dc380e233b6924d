# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The errors of a FastCGI app, which come as its STDERR: PHP's above all. They
go where the output of the app goes."""
import re
from pathlib import Path

import pytest

from harness import procs, sentences
from harness.cases import cases
from harness.httpd import Httpd
from harness.logs import come
from harness.php import OWNER, put
from harness.wait import wait_until
from test_nonsense import (END, STDERR, STDOUT, add, expect, record,
                           response_of)

pytestmark = pytest.mark.mpms("event")

WHOLE = response_of("fcgi", b"Content-Type: text/plain\r\n", b"whole")


def prints(httpd: Httpd, name: str, text: str, *directives: str) -> None:
    """An app that sends this as its STDERR, and then its response."""
    parts = [text[at:at + 30000] for at in range(0, len(text), 30000)]
    add(httpd, name, "fcgi", b"".join(record(STDERR, part.encode())
                                      for part in parts) + WHOLE, *directives)


def ask(httpd: Httpd, name: str) -> None:
    assert httpd.get("/", name).text == "whole"


def kept(httpd: Httpd, name: str) -> str:
    """What apppoolctl logs shows."""
    return httpd.ctl("logs", name).stdout


def test_where_they_go(httpd: Httpd) -> None:
    """To AppLog, or with the client to the error log. Both are shown."""
    expect(httpd)
    logs = {name: httpd.dir / f"{name}.log" for name in ("file", "raw", "pipe")}
    prints(httpd, "none", "it is broken: \x1b[0m\r\n\nit is broken twice\n")
    for name, log in logs.items():
        prints(httpd, name, "it is broken: \x1b[0m\r\n\nit is broken twice\n",
               f'AppLog "|$cat >>{log}"' if name == "pipe" else f"AppLog {log}",
               *(["AppLogFormat raw"] if name == "raw" else []))
    httpd.start()
    for name, case in cases(("none", *logs)):
        with case:
            ask(httpd, name)
            wait_until(lambda: "it is broken twice" in kept(httpd, name), "it is shown")
            assert re.fullmatch(
                rf"\[.*\] {name}\[\d+\]> it is broken: \\x1b\[0m\n"
                rf"\[.*\] {name}\[\d+\]> it is broken twice\n", kept(httpd, name))
            lines = httpd.log.matching(rf" {name}\[\d+\]> ")
            if name == "none":
                assert [bool(re.search(
                    r"\[apppool:error\] .*\[client 127\.0\.0\.1:\d+\] apppool: "
                    rf"none\[\d+\]> {text}$", line)) for line, text in zip(
                        lines, (r"it is broken: \\x1b\[0m", "it is broken twice"))] \
                    == [True, True]
                assert len(lines) == 2
                continue
            assert lines == []
            come(logs[name], "it is broken twice$")
            text = logs[name].read_text()
            if name == "raw":
                assert text == "it is broken: \x1b[0m\nit is broken twice\n"
            else:
                assert f"{name}[" in text and "> it is broken: \\x1b[0m\n" in text


def test_php(httpd: Httpd) -> None:
    log = httpd.dir / "shop.log"
    root = httpd.dir / "shop"
    put(root / "public", "index.php")
    (root / "index.php").touch()
    (root / "public/index.php").write_text(
        "<?php echo 'whole'; error_log('first'); echo $missing;")
    httpd.app("shop", f"AppUser {OWNER}", f"AppLog {log}", command=None,
              root=root)
    httpd.start()
    assert httpd.get("/", "shop").text.startswith("whole")
    come(log, r"\] shop\[\d+\]> .*Undefined variable \$missing in .* on line 1$")
    assert re.search(r"\] shop\[\d+\]> .*first$", log.read_text(), re.M)


def test_flood(httpd: Httpd) -> None:
    """A request writes 200 lines. The rest is counted."""
    expect(httpd)
    httpd.log.expect(sentences.FCGI_MORE)
    log = httpd.dir / "shop.log"
    prints(httpd, "shop", "".join(f"it is broken {n}\n" for n in range(1000)),
           f"AppLog {log}")
    httpd.start()
    ask(httpd, "shop")
    come(log, "> it is broken 199$")
    httpd.log.wait_for(r"shop\[\d+\]: 800 more lines of this request are not l")
    assert "broken 200" not in log.read_text()


def count(path: Path) -> int:
    return len(re.findall(r"> it is broken \d+ x+$", path.read_text(), re.M)) \
        if path.exists() else 0


def test_spawner_that_does_not_take_them(httpd: Httpd) -> None:
    """No request waits, and no line is lost: what the spawner has no room for
    is in the error log, and the next spawner takes the rest."""
    expect(httpd)
    httpd.log.expect(r"spawner \d+ ended")
    log = httpd.dir / "shop.log"
    prints(httpd, "shop",
           "".join(f"it is broken {n} {'x' * 1200}\n" for n in range(200)),
           f"AppLog {log}")
    httpd.start()
    ask(httpd, "shop")
    wait_until(lambda: count(log) == 200, "the first ones are there")
    spawner = httpd.helper("spawner")
    procs.freeze(spawner)
    for _ in range(3):
        ask(httpd, "shop")
    in_error_log = count(httpd.log.path)
    assert 0 < in_error_log < 600
    procs.kill9(spawner)
    wait_until(lambda: count(log) + in_error_log == 800, "all are there")
    assert count(httpd.log.path) == in_error_log
    ask(httpd, "shop")
    wait_until(lambda: count(log) + in_error_log == 1000, "the next ones, too")
