#!/usr/bin/python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
"""An app with many long-lived connections, in one thread. /echo sends back what
it gets, /bye too, once. /flood sends $MB megabytes at once. /slow reads nothing
until $GO exists, and then says how many bytes have come. /half reads to the
end, and then says the same. /frames sends a text frame, and echoes. These are
upgrades. /events and /many are event streams: a line that any client sends to
/echo comes as an event; /many sends $MB megabytes first, and /quiet nothing.
/open says how many connections are open."""
import asyncio
import os
import socket
from contextlib import suppress

MEGABYTES = int(os.environ.get("MB", "1"))
SWITCH = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n" \
    b"Upgrade: %s\r\n\r\n"
EVENTS = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n" \
    b"Transfer-Encoding: chunked\r\n\r\n"


def event(text):
    data = b"data: " + text + b"\n\n"
    return b"%x\r\n%s\r\n" % (len(data), data)


async def echo(reader, writer):
    while line := await reader.read(65536):
        writer.write(line)
        await writer.drain()
        for stream in streams:
            stream.write(event(line.strip()))


async def bye(reader, writer):
    writer.write(await reader.readline())


async def flood(_, writer):
    for _ in range(MEGABYTES * 16):
        writer.write(b"x" * 65536)
        await writer.drain()


async def count(reader, writer):
    n = 0
    while piece := await reader.read(65536):
        n += len(piece)
    writer.write(b"%d bytes" % n)


async def slow(reader, writer):
    while not os.path.exists(os.environ["GO"]):
        await asyncio.sleep(0.01)
    await count(reader, writer)


async def frames(reader, writer):
    writer.write(b"\x81\x05hello")
    await echo(reader, writer)


async def events(reader, writer):
    streams.add(writer)
    try:
        await reader.read()
    finally:  # also after a reset
        streams.discard(writer)


async def many(reader, writer):
    for _ in range(MEGABYTES * 16):
        writer.write(event(b"x" * 65536))
        await writer.drain()
    await events(reader, writer)


WAYS = {"/echo": echo, "/bye": bye, "/flood": flood, "/slow": slow,
        "/half": count, "/frames": frames}


async def respond(reader, writer):
    path = (await reader.readline()).split()[1].decode()
    upgrade = b""
    while line := (await reader.readline()).strip():
        if line.lower().startswith(b"upgrade:"):
            upgrade = line[8:].strip()
    if path in WAYS:
        writer.write(SWITCH % upgrade)
        await WAYS[path](reader, writer)
    elif path == "/quiet":
        writer.write(EVENTS)
        await events(reader, writer)
    elif path in ("/events", "/many"):
        writer.write(EVENTS + event(b"first"))
        await (events if path == "/events" else many)(reader, writer)
    else:
        text = b"%d" % (len(writers) - 1)
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n"
                     b"Content-Length: %d\r\n\r\n%s" % (len(text), text))


async def serve(reader, writer):
    writers.add(writer)
    with suppress(OSError, IndexError):  # the pool looks whether it listens
        await respond(reader, writer)
        await writer.drain()
    writers.discard(writer)
    writer.close()


async def main():
    server = await asyncio.start_unix_server(
        serve, sock=socket.socket(fileno=3), limit=1 << 20)
    await server.serve_forever()


streams = set()
writers = set()
asyncio.run(main())
