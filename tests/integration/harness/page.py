# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A parsed page of HTML."""
from html.parser import HTMLParser

VOID = {"meta"}


class Page(HTMLParser):
    """Each element that is opened is closed. It keeps the text of each
    kind."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: dict[str, str] = {}
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.rows: dict[str, str] = {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        tag = self.open[-1] if self.open else ""
        self.text[tag] = self.text.get(tag, "") + data
        if tag == "dt":
            self.last = data
        elif tag == "dd":
            self.rows[self.last] = self.rows.get(self.last, "") + data
