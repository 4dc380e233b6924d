# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A project of Flask by the loader for WSGI applications (helpers/python): what
its author uses of HTTP. Each request is made twice: wsgiref.validate is between
loader and application, or it is not."""
import io
import json
import os
import socket
import zipfile
from pathlib import Path
from typing import Iterator

import pytest

from harness.wsgi import Loader, Response, ask

PROJECT = """
import io
import os
from wsgiref.validate import validator
from flask import (Flask, jsonify, request, send_file, session,
                   stream_with_context, url_for)

project = Flask("project", root_path=os.getcwd())
project.secret_key = "a secret"
project.config["MAX_CONTENT_LENGTH"] = 1 << 20

@project.post("/log-in")
def log_in():
    session["name"] = request.form["name"]
    return url_for("me", _external=True), 303, {"Location": url_for("me")}

@project.get("/me")
def me():
    return jsonify(name=session["name"], here=request.url,
                   client=request.remote_addr)

@project.post("/upload")
def upload():
    files = request.files.getlist("file")
    return jsonify({file.filename: len(file.read()) for file in files})

@project.put("/json")
def put_json():
    return jsonify(request.get_json())

@project.get("/rows")
def rows():
    def lines():
        for n in range(1000):
            yield f"{n},{request.args['word']}\\n"
    return stream_with_context(lines()), {"Content-Type": "text/csv"}

@project.get("/file")
def file():
    return send_file("data", conditional=True, mimetype="application/zip")

@project.get("/made")
def made():
    return send_file(io.BytesIO(b"made"), download_name="made.txt")

@project.get("/wrong")
def wrong():
    raise LookupError("a mistake of the project")

@project.errorhandler(413)
def too_large(error):
    return jsonify(error="too large"), 413

class Sized:
    # wsgiref.validate wants a size, which PEP 3333 does not, nor Flask.
    def __init__(self, stream):
        self.stream = stream

    def read(self, size=-1):
        return self.stream.read(size)

    def readline(self, size=-1):
        return self.stream.readline(size)

def sized(environ, start_response):
    environ["wsgi.input"] = Sized(environ["wsgi.input"])
    return project(environ, start_response)

strict = validator(sized)

def application(environ, start_response):
    served = project if "HTTP_X_PLAIN" in environ else strict
    return served(environ, start_response)
"""
FORM = "Content-Type: application/x-www-form-urlencoded"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loader]:
    root = tmp_path_factory.mktemp("flask")
    (root / "wsgi.py").write_text(PROJECT)
    with zipfile.ZipFile(root / "data", "w") as data:
        data.writestr("noise", os.urandom(300000))
    loader = Loader(root, "wsgi", root)
    try:
        yield loader
        assert loader.process.poll() is None, loader.log()
    finally:
        loader.destroy()


@pytest.fixture(params=["checked", "plain"])
def client(place: Loader, request: pytest.FixtureRequest
           ) -> Iterator["Client"]:
    with place.connect() as sock:
        yield Client(sock, place.place,
                     ["X-Plain: yes"] if request.param == "plain" else [])


class Client:
    def __init__(self, sock: socket.socket, root: Path, more: list[str]
                 ) -> None:
        self.sock, self.root, self.more = sock, root, more

    def ask(self, path: str, method: str = "GET", body: bytes | None = None,
            *headers: str) -> Response:
        return ask(self.sock, path, method, body, *self.more, *headers)


def parts(files: dict[str, bytes]) -> bytes:
    form = io.BytesIO()
    for name, data in files.items():
        form.write(b"--b\r\nContent-Disposition: form-data; name=file; "
                   b"filename=%b\r\n\r\n%b\r\n" % (name.encode(), data))
    return form.getvalue() + b"--b--\r\n"


def test_session(client: Client) -> None:
    """A cookie, a redirect, and where Flask thinks that it is"""
    said = client.ask("/log-in", "POST", b"name=ada", FORM)
    assert (said.status, said.headers["Location"]) == (303, "/me")
    assert said.body == b"http://shop:8080/me"
    cookie = said.headers["Set-Cookie"].partition(";")[0]
    me = client.ask("/me?x=%C3%A9", "GET", None, f"Cookie: {cookie}",
                    "X-Forwarded-For: 192.0.2.7")
    assert json.loads(me.body) == {
        "name": "ada", "here": "http://shop:8080/me?x=\u00e9",
        "client": "192.0.2.7"}
    mounted = client.ask("/log-in", "POST", b"name=ada", FORM,
                         "X-Forwarded-Prefix: /office",
                         "X-Forwarded-Proto: https")
    assert mounted.headers["Location"] == "/office/me"
    assert mounted.body == b"https://shop:8080/office/me"


def test_bodies(client: Client) -> None:
    """A form with files, JSON in chunks, one that is too large, none"""
    files = {"a.bin": os.urandom(200000), "b": b""}
    said = client.ask("/upload", "POST", parts(files),
                      "Content-Type: multipart/form-data; boundary=b")
    assert json.loads(said.body) == {"a.bin": 200000, "b": 0}
    text = b'{"a": [1, 2]}'
    client.sock.sendall(
        "\r\n".join(["PUT /json HTTP/1.1", "Host: shop",
                     "Content-Type: application/json",
                     "Transfer-Encoding: chunked", *client.more,
                     "", ""]).encode()
        + b"5\r\n%b\r\n8\r\n%b\r\n0\r\n\r\n" % (text[:5], text[5:]))
    assert json.loads(Response(client.sock).body) == {"a": [1, 2]}
    large = client.ask("/upload", "POST", bytes(2 << 20),
                       "Content-Type: multipart/form-data; boundary=b")
    assert (large.status, json.loads(large.body)) == (
        413, {"error": "too large"})
    assert client.ask("/json", "PUT").status in (400, 415)
    assert client.ask("/made").body == b"made", "the connection is in order"


def test_responses(client: Client, place: Loader) -> None:
    """A stream, a file and a part of it, HEAD, errors"""
    rows = client.ask("/rows?word=a")
    assert rows.framing == "chunked"
    assert rows.body == "".join(f"{n},a\n" for n in range(1000)).encode()
    data = (client.root / "data").read_bytes()
    whole = client.ask("/file")
    assert (whole.framing, whole.body) == ("length", data)
    part = client.ask("/file", "GET", None, "Range: bytes=1000-1999")
    assert (part.status, part.body) == (206, data[1000:2000])
    tag = f"If-None-Match: {whole.headers['ETag']}"
    assert client.ask("/file", "GET", None, tag).status == 304
    head = client.ask("/file", "HEAD")
    assert head.headers["Content-Length"] == str(len(data))
    assert client.ask("/nothing").status == 404
    assert client.ask("/me", "DELETE").headers["Allow"]
    assert client.ask("/wrong").status == 500
    assert "LookupError: a mistake of the project" in place.log()
    assert "AssertionError" not in place.log()
