# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A visitor of a web site, which does what a browser does: it keeps cookies,
follows redirects, sends forms with their hidden fields, and sends Referer."""
import http.client
import secrets
import ssl
import threading
import urllib.error
import urllib.parse
import urllib.request
from contextlib import contextmanager
from html.parser import HTMLParser
from typing import Any, Callable, Iterator, Optional, Union

from missed import only_missed, witnesses

# A field of a form: its text, or the name and the bytes of a file.
Value = Union[str, tuple[str, bytes]]
Fields = list[tuple[str, Value]]
PATIENCE = 300.0  # seconds for a response; it may include a first start
# Seconds from a response to the next visit. Without a pause, the visitors and
# what they visit would use the processors that a new version needs to start.
PAUSE = 0.05


class Form:
    """What a browser would send of an unchanged form."""

    def __init__(self, action: str, kind: str) -> None:
        self.action = action
        self.is_multipart = kind == "multipart/form-data"
        self.fields: Fields = []
        self.files: set[str] = set()  # fields for files
        self.buttons: dict[str, str] = {}

    def has_field(self, name: str) -> bool:
        return name in self.files or name in self.buttons \
            or name in dict(self.fields)

    def filled_in(self, fields: dict[str, Value]) -> Fields:
        return [field for field in self.fields if field[0] not in fields] \
            + list(fields.items())


class Forms(HTMLParser):
    """The forms of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[Form] = []
        self.inside = ""  # the name of this select or textarea
        self.text: Optional[str] = None  # of it
        self.feed(html)

    def handle_starttag(self, tag: str,
                        attrs: list[tuple[str, Optional[str]]]) -> None:
        its = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.found.append(Form(its.get("action", ""),
                                   its.get("enctype", "")))
        elif tag == "button" and its.get("name"):
            self.input(its["name"], {"type": "submit", **its})
        elif tag == "input" and its.get("name"):
            self.input(its["name"], its)
        elif tag in ("select", "textarea"):
            self.inside, self.text = its.get("name", ""), None
        elif tag == "option" and self.inside:
            if self.text is None or "selected" in its:
                self.text = its.get("value", "")

    def input(self, name: str, its: dict[str, str]) -> None:
        kind = its.get("type", "text")
        if kind == "file" and self.found:
            self.found[-1].files.add(name)
        elif kind == "submit" and self.found:
            self.found[-1].buttons[name] = its.get("value", "")
        elif kind in ("checkbox", "radio"):
            if "checked" in its:
                self.put(name, its.get("value", "on"))
        elif kind not in ("submit", "button", "reset", "image"):
            self.put(name, its.get("value", ""))

    def put(self, name: str, text: str) -> None:
        if self.found and name:
            self.found[-1].fields.append((name, text))

    def handle_data(self, data: str) -> None:
        if self.lasttag == "textarea" and self.inside:
            self.text = (self.text or "") + data

    def handle_endtag(self, tag: str) -> None:
        if tag in ("select", "textarea"):
            self.put(self.inside, (self.text or "").removeprefix("\n"))
            self.inside = ""


class Parts(HTMLParser):
    """The URLs of what a browser loads for a page: style sheets, scripts and
    pictures."""

    def __init__(self, html: str, url: str) -> None:
        super().__init__()
        self.base = url
        self.found: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str,
                        attrs: list[tuple[str, Optional[str]]]) -> None:
        its = {name: value or "" for name, value in attrs}
        if tag == "base" and "href" in its:
            self.base = urllib.parse.urljoin(self.base, its["href"])
        path = its.get("src", "") if tag in ("script", "img") else \
            its.get("href", "") if its.get("rel") == "stylesheet" else ""
        if path:
            self.found.add(urllib.parse.urljoin(self.base, path))


class Page:
    def __init__(self, response: Any) -> None:
        self.status: int = response.status
        self.url: str = response.url  # after all redirects
        self.headers: http.client.HTTPMessage = response.headers
        self.body: bytes = response.read()

    @property
    def text(self) -> str:
        return self.body.decode()

    def form(self, field: str) -> Form:
        """The first form that has this field."""
        for form in Forms(self.text).found:
            if form.has_field(field):
                return form
        raise AssertionError(f"{self.url} asks for no {field}:\n{self.text}")


class Here(urllib.request.HTTPSHandler, urllib.request.HTTPHandler):
    """Every name leads to this machine, and every port to this one."""

    def __init__(self, port: int) -> None:
        super().__init__()
        self.port = port

    def http_open(self, request: urllib.request.Request) -> Any:
        return self.do_open(  # type: ignore[arg-type]
            lambda host, **more: http.client.HTTPConnection(
                "127.0.0.1", self.port, **more), request)

    def https_open(self, request: urllib.request.Request) -> Any:
        return self.do_open(  # type: ignore[arg-type]
            lambda host, **more: http.client.HTTPSConnection(
                "127.0.0.1", self.port,
                context=ssl._create_unverified_context(), **more), request)


class Visitor:
    """@param named the URLs of this visitor name the port"""

    def __init__(self, port: int, host: str, mount: str = "",
                 scheme: str = "http", named: bool = True) -> None:
        self.origin = f"{scheme}://{host}" + f":{port}" * named
        self.mount = mount
        self.opener = urllib.request.build_opener(
            Here(port), urllib.request.ProxyHandler({}),
            urllib.request.HTTPCookieProcessor())

    def open(self, path: str, body: Optional[bytes] = None,
             **headers: str) -> Page:
        """The response of this path of the site, whatever its status is."""
        return self.request(self.origin + self.mount + path, body, **headers)

    def request(self, url: str, body: Optional[bytes] = None,
                **headers: str) -> Page:
        request = urllib.request.Request(url, body, {
            name.replace("_", "-"): value for name, value in headers.items()})
        if body is not None:
            request.add_header("Origin", self.origin)
        try:
            page = Page(self.opener.open(request, timeout=PATIENCE))
        except urllib.error.HTTPError as response:
            page = Page(response)
        assert page.url.startswith(self.origin + self.mount), \
            f"{url} leads away from the site, to {page.url}"
        return page

    def get(self, path: str) -> Page:
        """The page at this path of the site, which must exist."""
        page = self.open(path)
        assert page.status == 200, f"{page.url}: {page.status}\n{page.text}"
        return page

    def post(self, path: str, body: bytes, **headers: str) -> Page:
        page = self.open(path, body, **headers)
        assert page.status in (200, 201), \
            f"{page.url}: {page.status}\n{page.text}"
        return page

    def load(self, page: Page) -> list[str]:
        """Get what a browser loads for this page from this site.
        @return its paths"""
        urls = sorted(url for url in Parts(page.text, page.url).found
                      if url.startswith(self.origin))
        missing = [url for url in urls if self.request(url).status != 200]
        assert missing == [] and urls, f"{page.url} lacks {missing}"
        return [urllib.parse.urlsplit(url).path for url in urls]

    def submit(self, page: Page, **fields: Value) -> Page:
        """Fill in and send the form of the page that has the first of these
        fields, or this button. The other fields may be buttons, or fields that
        a script adds."""
        form = page.form(next(iter(fields)))
        kind, body = encode(form.filled_in(fields),
                            form.is_multipart or bool(form.files))
        response = self.request(urllib.parse.urljoin(page.url, form.action),
                                body, Content_Type=kind, Referer=page.url)
        assert response.status == 200, \
            f"{response.url}: {response.status}\n{response.text}"
        return response


def encode(fields: Fields, multipart: bool) -> tuple[str, bytes]:
    """Content-Type and body of a form."""
    if not multipart:
        return ("application/x-www-form-urlencoded",
                urllib.parse.urlencode(fields).encode())
    boundary = secrets.token_hex(16)
    body = b""
    for name, value in fields:
        body += f'--{boundary}\r\nContent-Disposition: form-data; ' \
                f'name="{name}"'.encode()
        if isinstance(value, tuple):
            body += f'; filename="{value[0]}"\r\n' \
                    'Content-Type: application/octet-stream'.encode()
        data = value[1] if isinstance(value, tuple) else value.encode()
        body += b"\r\n\r\n" + data + b"\r\n"
    return (f"multipart/form-data; boundary={boundary}",
            body + f"--{boundary}--\r\n".encode())


class Visits:
    """Visitors that do the same again and again until they are stopped."""

    def __init__(self, visit: Callable[[], None], count: int) -> None:
        self.visit = visit
        self.done = 0
        self.failed: list[BaseException] = []
        witnesses.append(lambda: [error for error in self.failed
                                  if not only_missed(error)])
        self.leave = threading.Event()
        self.threads = [threading.Thread(target=self.run, daemon=True)
                        for _ in range(count)]

    def run(self) -> None:
        while not self.leave.wait(PAUSE):
            try:
                self.visit()
                self.done += 1
            except Exception as error:  # set by visits()
                self.failed.append(error)


@contextmanager
def visits(visit: Callable[[], None], count: int = 2) -> Iterator[Visits]:
    """This many visitors at a time during the block. None of them may fail."""
    crowd = Visits(visit, count)
    for thread in crowd.threads:
        thread.start()
    try:
        yield crowd
    finally:
        crowd.leave.set()
        for thread in crowd.threads:
            thread.join(PATIENCE)
    assert not crowd.failed, f"{len(crowd.failed)} failed, the first by " \
        f"{crowd.failed[0]!r}"
    assert crowd.done > 0
