# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The web app of test_web.py, for ASGI servers. That file says what it has to
do."""
import asyncio
import os
import signal


def kill():
    os.kill(os.getpid(), signal.SIGKILL)


async def read_body(receive):
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            return body


async def begin(send, code, headers):
    await send({"type": "http.response.start", "status": code,
                "headers": [(name.encode(), value.encode())
                            for name, value in headers]})


async def give(send, body, more=False):
    await send({"type": "http.response.body", "body": body,
                "more_body": more})


async def echo(scope, receive, send):
    body = await read_body(receive)
    fields = {name.decode(): value.decode()
              for name, value in scope["headers"]}
    await begin(send, 200, [
        ("content-type", "application/octet-stream"),
        ("content-length", str(len(body))),
        ("set-cookie", "a=1"), ("set-cookie", "b=2"),
        ("x-method", scope["method"]), ("x-path", scope["path"]),
        ("x-mount", fields.get("x-forwarded-prefix", "")),
        ("x-query", scope["query_string"].decode()),
        ("x-host", fields["host"]), ("x-mine", fields.get("x-mine", "")),
        ("x-cookies", fields.get("cookie", "")),
        ("x-secret", fields.get("authorization", "")),
        ("x-greeting", os.environ.get("GREETING", "")),
        ("x-pid", str(os.getpid()))])
    await give(send, body)


async def status(scope, receive, send):
    code = int(scope["query_string"])
    bare = code in (204, 304)
    await begin(send, code, [("etag", '"tag"')] + (
        [] if bare else [("content-type", "text/plain"),
                         ("content-length", "6")]))
    await give(send, b"" if bare else b"a body")


async def big(scope, receive, send):
    await begin(send, 200, [("content-type", "text/plain")])
    for _ in range(48):
        await give(send, b"x" * 65536, True)
    await give(send, b"")


async def stream(scope, receive, send):
    gate = os.path.join(os.environ["HOLD_DIR"],
                        scope["query_string"].decode())
    await begin(send, 200, [("content-type", "text/event-stream")])
    await give(send, b"data: first\n\n", True)
    for _ in range(4000):
        if os.path.exists(gate):
            break
        await asyncio.sleep(0.005)
    await give(send, b"data: second\n\n")


async def crash(scope, receive, send):
    kill()


async def half(scope, receive, send):
    await begin(send, 200, [("content-type", "text/plain"),
                            ("content-length", "200000")])
    await give(send, b"x" * 100000, True)
    kill()


async def websocket(receive, send):
    """Echo, until the client says end."""
    await receive()
    await send({"type": "websocket.accept"})
    text = None
    while text != "end":
        message = await receive()
        if message["type"] != "websocket.receive":
            return
        text = message["text"]
        await send({"type": "websocket.send", "text": f"you said {text}"})
    await send({"type": "websocket.close"})


URLS = {"/big": big, "/status": status, "/stream": stream, "/crash": crash,
        "/half": half}


async def application(scope, receive, send):
    if scope["type"] == "http":
        await URLS.get(scope["path"], echo)(scope, receive, send)
    elif scope["type"] == "websocket":
        await websocket(receive, send)
