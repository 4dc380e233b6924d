#!/usr/bin/python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A small HTTP server that does what the last part of the URL's path says.

It serves one request at a time, or AppConcurrency many with APP_THREADS=1. It
starts in a few hundredths of a second. From the environment:

    APP_NAME      for /who and the trace
    APP_TRACE     file: a line for each request that arrives
    HOLD_DIR      /hold?key=K: creates K.held, responds when K.go exists
    BOOT_SLEEP    seconds before the first accept
    BOOT_IF       file: waits for it before the first accept
    BOOT_FAIL_IF  file: exit 1 at the start while it exists
    IGNORE_TERM   1: SIGTERM is ignored
    APP_THREADS   1: a thread for each connection
    APP_BACKLOG   connections that wait to be accepted; 64
    RETIRES       seconds: on SIGUSR1 it sends STOPPING=1, still serves, and
                  exits after this time without a request
    OPEN_FILES    number of open files, which take time to close at a kill
    LEDGER_DIR    /ID/work?s=SECONDS&n=BYTES: what each process began and ended

It imports only modules that load fast: a run of the tests starts it thousands
of times, and `socket`, `signal` and `json` take as long as everything else."""
import _signal as signal
import _socket as socket
import os
import select
import sys
import time

PHRASES = {200: "OK", 204: "No Content", 304: "Not Modified"}
served = 0
ledger = None


class Request:
    def __init__(self, method, target, headers, stream):
        self.method = method
        self.target = target
        self.headers = headers
        self.path, _, query = target.partition("?")
        self.name = self.path.rstrip("/").rpartition("/")[2]
        pairs = (pair.partition("=") for pair in query.split("&") if pair)
        self.query = {key: value for key, _, value in pairs}
        self.stream = stream
        self.body = b"" if self.name in STREAMED else read_body(stream,
                                                                headers)


def read_body(stream, headers):
    length = {k.lower(): v for k, v in headers}
    if "chunked" not in length.get("transfer-encoding", ""):
        return stream.read(int(length.get("content-length", 0)))
    body = b""
    while True:
        size = int(stream.readline().split(b";")[0], 16)
        body += stream.read(size)
        stream.readline()
        if size == 0:
            return body


def read_request(stream):
    """The next request of a connection, or None at its end."""
    line = stream.readline().decode("latin-1").split()
    if len(line) != 3:
        return None
    headers = []
    while True:
        header = stream.readline().decode("latin-1").strip()
        if not header:
            break
        name, _, value = header.partition(":")
        headers.append((name, value.strip()))
    return Request(line[0], line[1], headers, stream)


def respond(out, body=b"", status=200, headers=(), head=False):
    """A response with a length. The body is JSON, unless it is bytes or
    text."""
    kind = "text/plain"
    if isinstance(body, str):
        body = body.encode()
    elif not isinstance(body, bytes):
        import json
        body, kind = json.dumps(body).encode(), "application/json"
    lines = [f"HTTP/1.1 {status} {PHRASES.get(status, 'Status')}"]
    if status not in (204, 304):
        lines += [f"Content-Type: {kind}", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in headers]
    out.write("\r\n".join(lines).encode() + b"\r\n\r\n")
    if status not in (204, 304) and not head:
        out.write(body)
    out.flush()


def descriptors():
    fds = {}
    for fd in os.listdir("/proc/self/fd"):
        if os.path.lexists(f"/proc/self/fd/{fd}"):  # not listdir's own
            fds[fd] = os.readlink(f"/proc/self/fd/{fd}")
    return fds


FDS = descriptors()  # at the start


# ---- what the URLs do

def do_pid(request, out):
    """Its pid twice and n bytes more, so a client sees if some are missing."""
    body = str(os.getpid()) + "x" * int(request.query.get("n", 0))
    respond(out, body, headers=[("X-Pid", str(os.getpid()))],
            head=request.method == "HEAD")


def do_who(request, out):
    respond(out, f"{os.environ.get('APP_NAME', '?')} {os.getpid()}")


def do_count(request, out):
    respond(out, str(served))


def do_sleep(request, out):
    time.sleep(float(request.query.get("s", 1)))
    respond(out, str(os.getpid()))


def do_hold(request, out):
    base = os.path.join(os.environ["HOLD_DIR"], request.query["key"])
    with open(base + ".new", "w") as file:
        file.write(str(os.getpid()))
    os.rename(base + ".new", base + ".held")
    deadline = time.monotonic() + 60
    while not os.path.exists(base + ".go") and time.monotonic() < deadline:
        time.sleep(0.005)
    respond(out, str(os.getpid()))


def note(word, number):
    """Write a line to the ledger of this process, which outlives it."""
    os.write(ledger, f"{word} {time.monotonic():.6f} {number}\n".encode())


def do_work(request, out):
    """The ledger has the end before a client can know it."""
    number = request.path.split("/")[-2]
    note("began", number)
    time.sleep(float(request.query.get("s", 0)))
    note("ended", number)
    good = request.method == "GET" or request.body == number.encode() * 50
    work = f"{os.environ['APP_NAME']} {os.getpid()} {number}"
    respond(out, work.ljust(int(request.query.get("n", 0))),
            200 if good else 400)


def do_echo(request, out):
    respond(out, {"method": request.method, "target": request.target,
                  "headers": request.headers, "length": len(request.body),
                  "body": request.body[:65536].decode("latin-1")},
            headers=[("X-Two", "1"), ("X-Two", "2"),
                     ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")],
            head=request.method == "HEAD")


def do_status(request, out):
    respond(out, "a body", int(request.query["code"]),
            [("X-App", "here"), ("ETag", '"tag"')],
            head=request.method == "HEAD")


def do_big(request, out):
    respond(out, b"x" * int(request.query["n"]))


def do_chunked(request, out):
    out.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    for part in range(int(request.query["n"])):
        text = f"part {part}\n".encode()
        out.write(b"%x\r\n%s\r\n" % (len(text), text))
        out.flush()
    out.write(b"0\r\n\r\n")


def do_close(request, out):
    """No length: the end of the connection is the end of the body."""
    out.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nto the end")
    return True


def do_print(request, out):
    print(request.query["text"], flush=True)
    print(request.query["text"], file=sys.stderr, flush=True)
    respond(out)


def do_crash(request, out):
    os.kill(os.getpid(), signal.SIGKILL)


def do_half(request, out):
    """Dies when the client has half of the response."""
    out.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"
              + b"x" * 50000)
    out.flush()
    os.kill(os.getpid(), signal.SIGKILL)


def do_nothing(request, out):
    """Closes the connection without a response, and lives."""
    return True


def do_garbage(request, out):
    out.write(b"\0\1\2 this is not HTTP\r\n\r\n")
    return True


def do_head(request, out):
    """Closes the connection within the header."""
    out.write(b"HTTP/1.1 200 OK\r\nX-Half: ")
    return True


def do_exit(request, out):
    """Responds, then exits in order."""
    respond(out, str(os.getpid()))
    os._exit(0)


def notify_spawner(message):
    """Repeat until it is received: the spawner may just be restarting."""
    notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    while True:
        try:
            notify.sendto(message, os.environ["NOTIFY_SOCKET"])
            break
        except OSError:
            time.sleep(0.01)
    notify.close()


def do_stopping(request, out):
    """Says that it will take no other request. Then it responds and exits."""
    notify_spawner(b"STOPPING=1")
    respond(out, str(os.getpid()))
    os._exit(0)


def do_process(request, out):
    """What the process got at its start."""
    with open("/proc/self/status") as file:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in file)
    with open("/proc/self/limits") as file:
        limits = file.read()
    mask = os.umask(0)
    os.umask(mask)
    respond(out, {"pid": os.getpid(), "sid": os.getsid(0),
                  "pgid": os.getpgid(0), "cwd": os.getcwd(),
                  "uid": os.getresuid(), "gid": os.getresgid(),
                  "groups": os.getgroups(), "umask": mask, "fds": FDS,
                  "fds_now": descriptors(), "limits": limits,
                  "no_new_privs": status["NoNewPrivs"],
                  "sigmask": status["SigBlk"], "sigignore": status["SigIgn"],
                  "environment": dict(os.environ)})


def do_daemon(request, out):
    """A background process; kind is one or more of group (nothing special),
    session (setsid), double (the child of one that has ended), stubborn
    (ignores SIGTERM), bare (an empty environment)."""
    kind = request.query.get("kind", "session.double.stubborn").split(".")
    read, write = os.pipe()
    if os.fork() == 0:
        if "session" in kind:
            os.setsid()
        if "double" in kind and os.fork():
            os._exit(0)
        if "stubborn" in kind:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        os.write(write, str(os.getpid()).encode())
        os.closerange(0, 64)
        os.execve("/bin/sleep", ["sleep", "600"],
                  {} if "bare" in kind else os.environ)
    respond(out, os.read(read, 20))


STREAMED = set()  # these URLs read the body themselves
URLS = {name[3:]: do for name, do in globals().items()
        if name.startswith("do_")}


# ---- the server

def serve(connection):
    """@param connection a descriptor, which is closed at the end"""
    try:
        with open(connection, "rb", closefd=False) as stream, \
                open(connection, "wb", closefd=False) as out:
            converse(stream, out)
    except OSError:
        pass  # the client has gone
    finally:
        os.close(connection)


def converse(stream, out):
    global served
    while (request := read_request(stream)) is not None:
        served += 1
        trace = os.environ.get("APP_TRACE")
        if trace:
            with open(trace, "a") as file:
                file.write(f"{os.environ.get('APP_NAME')} {os.getpid()} "
                           f"{request.method} {request.target}\n")
        close = URLS.get(request.name, do_who)(request, out)
        out.flush()
        fields = {k.lower(): v for k, v in request.headers}
        if close or fields.get("connection", "").lower() == "close":
            break


def listening():
    """The socket, by each of the three conventions."""
    if os.environ.get("LISTEN_FDS"):
        if os.environ.get("LISTEN_PID") != str(os.getpid()):
            sys.exit("LISTEN_PID is not this process")
        return socket.socket(fileno=3)
    if os.environ.get("APPPOOL_SOCKET"):
        server = socket.socket(socket.AF_UNIX)
        server.bind(os.environ["APPPOOL_SOCKET"])
    else:
        server = socket.socket()
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", int(os.environ["PORT"])))
    server.listen(int(os.environ.get("APP_BACKLOG", 64)))
    return server


def retire_on_signal():
    """A descriptor that becomes readable when it is time to retire."""
    read, write = os.pipe()

    def retire(number, frame):
        notify_spawner(b"STOPPING=1")
        os.write(write, b"x")

    signal.signal(signal.SIGUSR1, retire)
    return read


def wait_for_client(server, retire, idle):
    """How long to wait next time. Exits if no client comes."""
    ready, _, _ = select.select([server, retire], [], [], idle)
    if not ready:
        sys.exit(0)
    if retire in ready:
        os.read(retire, 100)
        return wait_for_client(server, retire, float(os.environ["RETIRES"]))
    return idle


def open_ledger():
    global ledger
    name = (f"{os.environ['LEDGER_DIR']}/{os.environ.get('APP_NAME', '?')}."
            f"{os.getpid()}.{time.monotonic():.6f}")
    ledger = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)


def main():
    if os.environ.get("IGNORE_TERM"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.path.exists(os.environ.get("BOOT_FAIL_IF", "/nonexistent")):
        print("this app cannot start", flush=True)
        sys.exit(1)
    if os.environ.get("LEDGER_DIR"):
        open_ledger()
    files = [os.eventfd(0) for _ in range(int(os.environ.get("OPEN_FILES",
                                                             0)))]
    time.sleep(float(os.environ.get("BOOT_SLEEP", 0)))
    while not os.path.exists(os.environ.get("BOOT_IF", "/")):
        time.sleep(0.01)
    server = listening()
    server.setblocking(True)
    retire, idle = os.environ.get("RETIRES") and retire_on_signal(), None
    while True:
        if retire:
            idle = wait_for_client(server, retire, idle)
        connection, _ = server._accept()
        if os.environ.get("APP_THREADS"):
            import _thread
            _thread.start_new_thread(serve, (connection,))
        else:
            serve(connection)


if __name__ == "__main__":
    main()
