# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The pattern of a test for the error log is a sentence. (The harness refuses
others when the test runs: harness/errorlog.py)"""
import ast
import re
import sys
from pathlib import Path
from typing import Iterator

from source import TOP

INTEGRATION = TOP / "tests" / "integration"
sys.path.insert(0, str(INTEGRATION))

from harness import sentences  # noqa: E402
from harness.errorlog import NEVER_LOGGED  # noqa: E402


def expected(path: Path) -> Iterator[tuple[int, str]]:
    """The patterns in calls of expect(), with their lines."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and \
                isinstance(node.func, ast.Attribute) and \
                node.func.attr == "expect":
            for word in node.args:
                if isinstance(word, ast.Constant):
                    yield word.lineno, str(word.value)


def test_patterns() -> None:
    patterns = [(path.name, line, pattern)
                for path in INTEGRATION.rglob("*.py")
                for line, pattern in expected(path)]
    assert len(patterns) > 50
    assert [one for one in patterns
            if any(re.search(one[2], line) for line in NEVER_LOGGED)] == []


def test_sentences() -> None:
    named = {name: text for name, text in vars(sentences).items()
             if name.isupper() and len(name) > 1}
    assert len(named) > 50
    assert [name for name, text in named.items()
            if any(re.search(text, line) for line in NEVER_LOGGED)] == []


def kills(path: Path) -> Iterator[int]:
    """Lines that send SIGKILL without procs.send()."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and \
                ast.unparse(node.func) in ("os.kill", "os.killpg") and \
                ast.unparse(node.args[1]) in ("9", "signal.SIGKILL"):
            yield node.lineno


def test_kills_are_recorded() -> None:
    """Otherwise the error log does not know which end was expected. Two files
    are exceptions, because they kill only when a test is over."""
    found = {path.name for path in INTEGRATION.rglob("*.py")
             if "apps" not in path.parts and list(kills(path))}
    assert found == {"browser.py", "httpd.py"}
