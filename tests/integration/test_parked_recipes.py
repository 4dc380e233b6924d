# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The recipes of doc/apps.md for long-lived connections: each serves 1,000
clients with one process, and they hold no worker."""
import itertools
import json
import re
from contextlib import ExitStack
from typing import Protocol
from xml.etree import ElementTree

import pytest

from harness.client import Raw
from harness.config import App, SLOW_START
from harness.errorlog import BUSY
from harness.httpd import Httpd
from harness.long import lasts
from harness.visitor import PATIENCE
from harness.wait import wait_until
from harness.websocket import WebSocket
from test_examples import blocks, put, sections

pytestmark = pytest.mark.mpms("event")

HOST = "shop.example"  # Django responds to no other name
CLIENTS = lasts(50, 1000)
# All are in one child.
ONE_CHILD = ("ServerLimit 2", "StartServers 1", "ThreadsPerChild 16",
             "MaxRequestWorkers 16", "MinSpareThreads 1", "MaxSpareThreads 16",
             "AsyncRequestWorkerFactor 150")


class Client(Protocol):
    """One that hears what any client has said."""

    def __init__(self, httpd: Httpd) -> None: ...

    def __enter__(self) -> "Client": ...

    def __exit__(self, *_: object) -> None: ...

    def say(self, text: str) -> None: ...

    def hears(self) -> str: ...


class Events(Raw):
    """An event stream. What it says is another request."""

    def __init__(self, httpd: Httpd) -> None:
        super().__init__(httpd.port, f"GET /events HTTP/1.1\r\nHost: {HOST}"
                         "\r\n\r\n".encode())
        self.httpd = httpd
        assert self.head()[0] == 200
        assert self.chunk() == b": welcome\n\n"

    def chunk(self) -> bytes:
        size = int(self.stream.file.readline(), 16)
        return self.stream.file.read(size + 2)[:-2]

    def say(self, text: str) -> None:
        assert self.httpd.post("/say", HOST, text).status == 200

    def hears(self) -> str:
        return self.chunk().decode()[len("data: "):-2]


class Chat(WebSocket):
    def __init__(self, httpd: Httpd) -> None:
        super().__init__(httpd.port, "/chat", HOST)


class SocketIo(WebSocket):
    """It begins with a request, as clients do by default, and changes to a
    WebSocket: packets of Engine.IO 4 and Socket.IO 5."""

    def __init__(self, httpd: Httpd) -> None:
        path = "/socket.io/?EIO=4&transport="
        sid = json.loads(httpd.get(f"{path}polling", HOST).text[1:])["sid"]
        super().__init__(httpd.port, f"{path}websocket&sid={sid}", HOST)
        super().say("2probe")
        assert super().hears() == "3probe"
        super().say("5")
        super().say("40")
        while (packet := super().hears()) == "6":  # for the request, if any
            pass
        assert packet.startswith("40{")

    def say(self, text: str) -> None:
        super().say("42" + json.dumps(["say", text]))

    def hears(self) -> str:
        while (packet := super().hears()) == "2":  # a ping
            super().say("3")
        event, text = json.loads(packet[len("42"):])
        assert event == "said"
        return text


class Cable(WebSocket):
    """A page with two subscriptions: of a channel, and of the stream that its
    turbo-cable-stream-source names. What it says goes to both in turn."""
    CHAT = json.dumps({"channel": "ChatChannel"})
    turns = itertools.count()

    def __init__(self, httpd: Httpd) -> None:
        super().__init__(httpd.port, "/cable", HOST)
        self.httpd = httpd
        assert self.packet() == {"type": "welcome"}
        self.subscribe(self.CHAT, "confirm_subscription")
        name = re.search('signed-stream-name="([^"]+)"',
                         httpd.get("/messages", HOST).text)
        assert name is not None
        self.subscribe(self.turbo(name[1]), "confirm_subscription")
        self.subscribe(self.turbo(f"{name[1]}0"), "reject_subscription")

    def turbo(self, name: str) -> str:
        return json.dumps({"channel": "Turbo::StreamsChannel",
                           "signed_stream_name": name})

    def subscribe(self, channel: str, answer: str) -> None:
        self.command("subscribe", channel)
        assert self.packet()["type"] == answer

    def packet(self) -> dict[str, str]:
        while (packet := json.loads(super().hears())).get("type") == "ping":
            pass
        return packet

    def command(self, name: str, channel: str, **more: str) -> None:
        super().say(json.dumps({"command": name, "identifier": channel,
                                **more}))

    def say(self, text: str) -> None:
        if next(self.turns) % 2:
            assert self.httpd.post("/messages", HOST, text).status == 201
        else:
            self.command("message", self.CHAT,
                         data=json.dumps({"action": "say", "text": text}))

    def hears(self) -> str:
        packet = self.packet()
        if packet["identifier"] == self.CHAT:
            return packet["message"]
        stream = ElementTree.fromstring(packet["message"])
        assert stream.attrib == {"action": "append", "target": "messages"}
        return "".join(stream.itertext()).strip()


RECIPES: dict[str, type[Client]] = {
    "Event streams of FastAPI": Events,
    "Django Channels": Chat,
    "Socket.IO with Python": SocketIo,
    "Action Cable, Turbo Streams": Cable,
}


def lay_out(httpd: Httpd, name: str) -> App:
    section = sections()[name]
    app = httpd.app(HOST, *SLOW_START, command=None)
    app.directives += [line.replace("/srv/shop", str(app.root)) for line in
                       blocks(section, "(Configuration)")[0][1].splitlines()]
    put(app, section)
    return app


def serves(httpd: Httpd, app: App, kind: type[Client]) -> None:
    """Each client hears what the first and the last have said, and other
    requests are served meanwhile."""
    httpd.directives += ONE_CHILD
    # The ends of many connections at once need all workers for a moment.
    httpd.log.expect(BUSY)
    httpd.start()
    httpd.get("/", HOST, timeout=PATIENCE)  # whatever it is

    def parked() -> int:
        return httpd.group(app)["suspended"]

    with ExitStack() as opened:
        clients = [opened.enter_context(kind(httpd)) for _ in range(CLIENTS)]
        wait_until(lambda: parked() == CLIENTS, "none holds a worker")
        for one, text in (clients[0], "hello"), (clients[-1], "good night"):
            one.say(text)
            assert {client.hears() for client in clients} == {text}
        httpd.get("/", HOST)
        assert len(httpd.pids(app)) == 1
    wait_until(lambda: parked() == 0, "all have left")
    httpd.check()


@pytest.mark.bound(400)
@pytest.mark.parametrize("name", list(RECIPES))
def test_recipe(httpd: Httpd, name: str) -> None:
    serves(httpd, lay_out(httpd, name), RECIPES[name])
