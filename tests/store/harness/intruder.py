# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What a user without rights sends to the ports of a virtual address. It poses
as a store of its host: no address tells them apart. The program is run with
`python3 -c`, because that user may not read the files of the tests:

    SOURCE ADDRESS MEMCACHE REPL SPACE OTHER

It asks for SPACE, and stores an item in it, where the store lets it. Then it
asks for a copy of SPACE and OTHER. It prints what it has got."""
import socket
import ssl
import struct
import sys

source, address, memcache, repl, space, other = sys.argv[1:]
got = b""


def packet(opcode: int, extras: bytes, key: bytes, value: bytes) -> bytes:
    body = extras + key + value
    return struct.pack(">BBHBBHIIQ", 0x80, opcode, len(key), len(extras), 0, 0,
                       len(body), 0, 0) + body


def call(port: str, *said: bytes, until: bytes) -> None:
    """Say the next one when there is a reply; then read until that comes, or
    the end."""
    global got
    with socket.create_connection((address, int(port)), 40,
                                  (source, 0)) as connection:
        try:
            for words in said:
                connection.sendall(words)
                part = connection.recv(1 << 16)
                got += part
            while part and until not in got:
                part = connection.recv(1 << 16)
                got += part
        except ConnectionError:
            pass


def shake_hands(port: str) -> None:
    """Without a secret."""
    global got
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection((address, int(port)), 40,
                                  (source, 0)) as connection:
        try:
            context.wrap_socket(connection)
            got += b"TLS without a secret at " + port.encode()
        except OSError:
            pass


name = space.encode()
call(memcache, packet(0xe1, b"", name, b""), b"get in-" + name + b"\r\n",
     b"set forged 0 0 1\r\n1\r\n", until=b"STORED")
call(repl, packet(0xe0, struct.pack(">IQ", 2, 0), b"", b"%s 1\n%s 1\n" % (
    name, other.encode())), until=b"\x80\xe2")
for each in memcache, repl:
    shake_hands(each)
sys.stdout.buffer.write(got)
