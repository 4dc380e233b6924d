# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A WebSocket of a client that sends and reads short text messages."""
from harness.client import Raw

# The key is the one of RFC 6455, and the mask is 0.
REQUEST = ("GET %s HTTP/1.1\r\nHost: %s\r\nOrigin: http://%s\r\n"
           "Connection: Upgrade\r\nUpgrade: websocket\r\n"
           "Sec-WebSocket-Version: 13\r\n"
           "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
TEXT, PING = 1, 9


class WebSocket(Raw):
    def __init__(self, port: int, path: str, host: str) -> None:
        super().__init__(port, (REQUEST % (path, host, host)).encode())
        status, header = self.head()
        assert status == 101, header

    def say(self, text: str) -> None:
        data = text.encode()
        size = bytes([0x80 + len(data)]) if len(data) < 126 else \
            b"\xfe" + len(data).to_bytes(2, "big")
        self.send(b"\x81" + size + bytes(4) + data)

    def frame(self) -> tuple[int, bytes]:
        """Its opcode and its content."""
        kind, size = self.stream.file.read(2)
        if size == 126:
            size = int.from_bytes(self.stream.file.read(2), "big")
        return kind & 15, self.stream.file.read(size)

    def hears(self) -> str:
        """The next text message. The server may send pings before it."""
        kind, data = self.frame()
        while kind == PING:
            kind, data = self.frame()
        assert kind == TEXT, (kind, data)
        return data.decode()
