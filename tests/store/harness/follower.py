# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A slave in forty lines, as yrmcds documents the protocol: it connects, sends
one NUL byte a second, and applies the quiet requests of memcached's binary
protocol that it gets."""
import socket
import struct
import threading
from typing import NamedTuple, Optional

HEAD = struct.Struct(">BBHBBHIIQ")
SET, DELETE, TOUCH = 0x11, 0x14, 0x1c


class Item(NamedTuple):
    value: bytes
    flags: int
    exptime: int


class Follower(threading.Thread):
    def __init__(self, connection: socket.socket, hello: bytes = b"\0") -> None:
        super().__init__(daemon=True)
        self.connection = connection
        self.items: dict[bytes, Item] = {}
        self.opcodes: set[int] = set()
        self.history: list[tuple[bytes, Optional[Item]]] = []
        self.packets = 0
        self.ended: Optional[str] = None
        connection.sendall(hello)
        connection.settimeout(1)
        self.start()

    def run(self) -> None:
        rest = bytearray()
        while True:
            try:
                data = self.connection.recv(1 << 20)
            except TimeoutError:
                try:
                    self.connection.sendall(b"\0")
                    continue
                except OSError as error:
                    data, self.ended = b"", str(error)
            except OSError as error:
                data, self.ended = b"", str(error)
            if not data:
                self.ended = self.ended or "closed"
                return
            rest += data
            while size := self.packet(rest):
                del rest[:size]

    def packet(self, data: bytearray) -> int:
        """Apply the first one. @return its bytes; 0: it has not arrived"""
        if len(data) < HEAD.size:
            return 0
        magic, opcode, keys, extras, _, _, body, _, _ = HEAD.unpack_from(data)
        end = HEAD.size + body
        if len(data) < end:
            return 0
        assert magic == 0x80, magic
        key = bytes(data[HEAD.size + extras:HEAD.size + extras + keys])
        value = bytes(data[HEAD.size + extras + keys:end])
        item: Optional[Item] = None
        if opcode == SET:
            item = Item(value, *struct.unpack_from(">II", data, HEAD.size))
        elif opcode == TOUCH and key in self.items:
            item = self.items[key]._replace(
                exptime=struct.unpack_from(">I", data, HEAD.size)[0])
        if item:
            self.items[key] = item
        else:
            self.items.pop(key, None)
        self.history.append((key, item))
        self.opcodes.add(opcode)
        self.packets += 1
        return end

    def end(self) -> None:
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.join(60)
        self.connection.close()
