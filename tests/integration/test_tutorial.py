# Licensed under the Apache License, Version 2.0; see LICENSE.
"""doc/tutorial.md: its application, and what its commands print."""
import os
import re
import shutil
import time

import pytest

from harness.httpd import USER, Httpd
from harness.places import TOP
from harness.wait import wait_until

BLOCKS = [re.sub("^    ", "", block, flags=re.M).strip("\n") for block in
          re.findall(r"^    .*\n(?:(?:    .*)?\n)*",
                     (TOP / "doc" / "tutorial.md").read_text(), re.M)]
ROOT = "/srv/shop"


def block(part: str) -> str:
    """The one that has this."""
    found, = [one for one in BLOCKS if part in one]
    return found


def heredoc(path: str) -> str:
    """What the tutorial writes to this file."""
    found = re.search(rf"^cat >{path} <<'END'\n(.*?)^END$", "\n".join(BLOCKS),
                      re.M | re.S)
    assert found
    return found[1]


def shape(text: str) -> list[list[str]]:
    """The words of each line. Times, numbers and ids differ, and so does what the
    page has cut off."""
    text = re.sub(r"\(pro\.\.\.$|\(production\) \(\d times since .*\)$",
                  "(production)", text, flags=re.M)
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME", text)
    text = re.sub(r"\b[0-9a-f]{16}\b", "ID", text)
    text = re.sub(r"(\d+ )(?=(MB|ms|s|m)\b)", "N ", text)
    text = re.sub(r"\b\d{3,}\b", "N", text)
    return [line.split() for line in text.splitlines() if line.split()]


@pytest.mark.mpms("event")
def test_tutorial(httpd: Httpd) -> None:
    """From apppoolctl detect to the rolling restart."""
    root = httpd.dir / "shop"
    for place in ("public", "tmp"):
        (root / place).mkdir(parents=True)
    code = root / "wsgi.py"
    code.write_text(heredoc(f"{ROOT}/wsgi.py"))
    for path in (root, *root.rglob("*")):
        shutil.chown(path, USER, USER)
    site = heredoc("/etc/apache2/sites-available/shop.conf")
    httpd.directives += site.replace("*:80", f"*:{httpd.port}").replace(
        ROOT, str(root)).splitlines()

    def said(command: str) -> str:
        done = httpd.ctl(*command.replace(ROOT, str(root)).split()[1:])
        assert done.returncode == 0, done.stderr
        return done.stdout.replace(str(root), ROOT)

    assert shape(said("apppoolctl detect /srv/shop")) \
        == shape(block("AppProtocol http"))
    httpd.start()
    first = httpd.get("/", "shop.example").text
    assert shape(first) == shape(block("version one,"))[:1]
    wait_until(lambda: httpd.pool("count") == 2 and httpd.pool("spawning") == 0,
               "its two processes run")
    pool, *rows = shape(said("apppoolctl status"))
    shown, *shown_rows = shape(block("0 active, 0 starting"))
    assert pool == shown and rows[:2] == shown_rows[:2]
    assert [row[1] for row in rows[2:]] == [row[1] for row in shown_rows[2:]]
    assert said("apppoolctl logs shop") == ""
    code.write_text(code.read_text().replace('"one"', '"two"'))
    # Python keeps what it has compiled if the file has the same size, and has
    # changed in the same second. Readers of the tutorial are slower.
    os.utime(code, (time.time() + 2,) * 2)
    assert shape(said("apppoolctl restart shop --wait")) \
        == shape(block("of the new code serve"))
    assert httpd.get("/", "shop.example").text.startswith("version two, ")
    wait_until(lambda: shape(said("apppoolctl events"))
               == shape(block("  restart  ")), "the events")
