# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A file that runs each case in one MPM has tests that meet the MPM: these say
for themselves in which MPMs they run."""
import ast
import re

from source import TOP

# A graceful restart, the children of httpd, kept connections of clients.
MEETS = re.compile(r"\bhttpd\.(graceful|restart|children)\(|MaxRequestWorkers"
                   r"|KeepAlive")


def silent(text: str) -> list[str]:
    """The tests of such a file that meet the MPM and have no mark."""
    body = ast.parse(text).body
    if not any(isinstance(node, ast.Assign) and "one_mpm(" in ast.unparse(node)
               and "pytestmark" in ast.unparse(node.targets[0])
               for node in body):
        return []
    return [node.name for node in body if isinstance(node, ast.FunctionDef)
            and node.name.startswith("test_")
            and MEETS.search(ast.unparse(node))
            and not re.search(r"\.(one_mpm|mpms)\(", " ".join(
                map(ast.unparse, node.decorator_list)))]


def test_what_meets_the_mpm_has_a_mark() -> None:
    found = {path.name: names for path in
             sorted((TOP / "tests/integration").glob("test_*.py"))
             if (names := silent(path.read_text()))}
    assert found == {}


def test_it_is_seen() -> None:
    text = ('pytestmark = pytest.mark.one_mpm("the pool")\n'
            "def test_a(httpd): httpd.graceful()\n"
            "def test_b(httpd): httpd.get()\n"
            '@pytest.mark.mpms("prefork", "event")\n'
            "def test_c(httpd): httpd.graceful()\n")
    assert silent(text) == ["test_a"]
    assert silent(text.partition("\n")[2]) == []
