# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Programs of Python that listen on a TCP port, as they are: a helper gives them
the socket of the pool (helpers/python/listen.py). Each one says what its server
says of its port, and who its client is."""
import socket

import pytest

from harness.httpd import Httpd
from harness.ports import reserve_port

COMMAND = '/usr/bin/python3 -IS "$APPPOOL_HELPERS/python/listen.py" main.py'
# On a socket that somebody else has bound.
SERVE = """import os
import socket
from http.server import BaseHTTPRequestHandler, HTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        port = self.server.socket.getsockname()[1]
        self.wfile.write(f"{port} {self.client_address[0]}".encode())

    def log_message(self, *words):
        pass


"""
RUN = "HTTPServer(('127.0.0.1', %s), Handler).serve_forever()\n"
# Two sockets of one server: an event loop waits for both.
ASYNC = """import asyncio


async def respond(reader, writer):
    await reader.readuntil(b"\\r\\n\\r\\n")
    writer.write(b"HTTP/1.0 200 OK\\r\\n\\r\\n%d" % len(server.sockets))
    await writer.drain()
    writer.close()


async def main():
    global server
    server = await asyncio.start_server(respond, ["127.0.0.1", "127.0.0.2"], 8080)
    await server.serve_forever()


asyncio.run(main())
"""
CASES: dict[str, tuple[str, str, str]] = {  # the program, its PORT, the response
    "port": (SERVE + RUN % 8080, "", "8080 127.0.0.1"),
    "addresses": (ASYNC, "", "2"),
    # It looks whether its port is free.
    "looks": (SERVE + "with socket.socket() as probe:\n"
              "    probe.bind(('', 8080))\n" + RUN % 8080, "",
              "8080 127.0.0.1"),
    # Another one is first.
    "chosen": (SERVE + "other = HTTPServer(('127.0.0.1', OTHER), Handler)\n"
               + RUN % 8080, "8080", "8080 127.0.0.1"),
    "any": (SERVE + "other = socket.socket()\nother.bind(('127.0.0.1', 0))\n"
            "assert other.getsockname()[1] > 0\n" + RUN % 8080, "",
            "8080 127.0.0.1"),
    # It knows the socket.
    "knows": (SERVE + "server = HTTPServer(('', 0), Handler, False)\n"
              "server.socket = socket.socket(fileno=3)\n"
              "Handler.address_string = lambda self: ''\n"
              "Handler.do_GET = lambda self: self.wfile.write("
              "b'HTTP/1.0 200 OK\\r\\n\\r\\nknows')\n"
              "server.serve_forever()\n", "", "knows"),
    # What __main__ is, and where it finds its files.
    "main": ("import pickle\nimport sys\n\nimport beside\n\n\nclass One:\n"
             "    pass\n\n\nassert __name__ == '__main__'\n"
             "assert sys.argv == ['main.py', 'word'], sys.argv\n"
             "pickle.loads(pickle.dumps(One()))\n" + SERVE + RUN % 8080, "",
             "8080 127.0.0.1"),
}


@pytest.mark.one_mpm("the program does not see it")
def test_as_they_are(httpd: Httpd) -> None:
    """No port is opened that another process has."""
    httpd.directives.append("MaxPoolSize 20")
    httpd.log.expect(r"apppool: chosen\[\d+\] listens on TCP port \d+, where "
                     r"httpd does not connect")
    taken, other = socket.create_server(("127.0.0.1", 0)), reserve_port()
    for name, (text, port, _) in CASES.items():
        app = httpd.app(name, *([f"AppSetEnv PORT {port}"] if port else []),
                        command=COMMAND + " word" * (name == "main"))
        if not port:  # that would be in use
            text = text.replace("8080", str(taken.getsockname()[1]))
        (app.root / "main.py").write_text(text.replace("OTHER", str(other[0])))
        (app.root / "beside.py").touch()
    httpd.start()
    pending = {name: httpd.get_async("/", name) for name in CASES}
    assert {name: one.result(60).text for name, one in pending.items()} == {
        name: text if port else text.replace("8080",
                                             str(taken.getsockname()[1]))
        for name, (_, port, text) in CASES.items()}
    taken.close()
    other[1].close()
