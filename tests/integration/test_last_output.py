# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The part of an app's output that is shown when the app does not start: of a
stack trace, the line with the error, wherever it is."""
import pytest

from harness import sentences
from harness.httpd import Httpd
from harness.page import Page

pytestmark = pytest.mark.mpms("event")

# The lines above a long stack, its frames, the lines below, and what is shown.
STACKS = {
    "ruby": (["! no database (RuntimeError)"], "\tfrom file.rb", [],
             "! no database (RuntimeError)"),
    "python": (["Traceback:"], "  File", ["OSError: no database"],
               "Traceback: | OSError: no database"),
    "indented": (["  all of it"], "  in line", [], "  in line 99"),
}


@pytest.mark.parametrize("language", list(STACKS))
def test_reason_beside_the_stack(httpd: Httpd, language: str) -> None:
    above, frame, below, words = STACKS[language]
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    app = httpd.app("shop", "AppFriendlyErrors On",
                    command="cat said; exit 1")
    (app.root / "said").write_text("".join(f"{line}\n" for line in [
        *above, *(f"{frame} {n}" for n in range(100)), *below]))
    httpd.start()
    response = httpd.get("/", "shop", headers={"Accept": "text/html"})
    shown = Page(response.text).text["pre"]
    reason = words.split(" | ")[-1]
    assert f"{reason}\n" in shown
    assert f"{frame} 99\n" in shown
    line, = httpd.log.wait_for("could not be started")
    assert line.endswith(words)
    assert f"last output: {reason} (error id " in httpd.ctl("status").stdout
