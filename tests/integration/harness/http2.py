# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A client of HTTP/2 that decides for each stream how much it reads."""
import socket
from dataclasses import dataclass, field

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import (DataReceived, Event, ResponseReceived, StreamEnded,
                       StreamReset)
from h2.settings import SettingCodes

CONNECTION = 1 << 30  # bytes; no limit for all streams together


@dataclass
class Stream:
    status: int = 0
    body: bytearray = field(default_factory=bytearray)
    ended: bool = False
    was_reset: bool = False


class Http2:
    """Without TLS; the server has to speak h2c."""

    def __init__(self, port: int, window: int) -> None:
        self.sock = socket.create_connection(("127.0.0.1", port), 40)
        self.http = H2Connection(H2Configuration(client_side=True))
        self.http.initiate_connection()
        self.http.update_settings({SettingCodes.INITIAL_WINDOW_SIZE: window})
        self.http.increment_flow_control_window(CONNECTION)
        self.streams: dict[int, Stream] = {}
        self.push()

    def __enter__(self) -> "Http2":
        return self

    def __exit__(self, *_: object) -> None:
        self.sock.close()

    def push(self) -> None:
        self.sock.sendall(self.http.data_to_send())

    def get(self, path: str, host: str = "shop") -> int:
        """@return the stream"""
        number = self.http.get_next_available_stream_id()
        self.http.send_headers(number, [
            (":method", "GET"), (":path", path), (":scheme", "http"),
            (":authority", host)], end_stream=True)
        self.streams[number] = Stream()
        self.push()
        return number

    def allow(self, number: int, size: int) -> None:
        """The server may send this many more bytes of the stream."""
        self.http.increment_flow_control_window(size, number)
        self.push()

    def leave(self, number: int) -> None:
        """Reset the stream."""
        self.http.reset_stream(number)
        self.push()

    def note(self, event: Event) -> None:
        number = getattr(event, "stream_id", 0)
        stream = self.streams.get(number or 0, Stream())
        if isinstance(event, ResponseReceived):
            stream.status = int(dict(event.headers)[b":status"])
        elif isinstance(event, DataReceived):
            stream.body += event.data
        elif isinstance(event, StreamEnded):
            stream.ended = True
        elif isinstance(event, StreamReset):
            stream.was_reset = stream.ended = True

    def pump(self) -> None:
        """Read the next frame of the server."""
        data = self.sock.recv(65536)
        assert data, "the server has closed the connection"
        for event in self.http.receive_data(data):
            self.note(event)
        self.push()

    def read(self, number: int, size: int) -> bytes:
        """Wait for this many bytes of a stream's body. @return all bytes so
        far"""
        stream = self.streams[number]
        while len(stream.body) < size:
            assert not stream.ended, "it is shorter"
            self.pump()
        return bytes(stream.body)

    def response(self, number: int) -> Stream:
        """Wait for the end of a stream."""
        stream = self.streams[number]
        while not stream.ended:
            self.pump()
        return stream
