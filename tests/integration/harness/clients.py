# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Many HTTP clients in one thread, for harness.load, which starts it.

    python3 clients.py PORT RECORD CROWD...     until standard input ends

A crowd is COUNT,HOST,KEPT,PAUSE,WORK,SIZE: COUNT clients. Each of them
requests /ID/work?s=WORK&n=SIZE from HOST, pauses, and does it again: over one
connection if KEPT is 1, otherwise over a new one each time. Every fourth
request has a body. When the input ends, no new request begins, and open ones
are finished.

RECORD gets a line for each attempt:

    ID HOST PORT REUSED BEGAN ENDED OUTCOME TEXT

PORT is the port of the client. The times are those of CLOCK_MONOTONIC. OUTCOME
is a status, or `closed`: the connection ended before the first byte of a
response; `cut`: it ended within the response; `late`: no response in time.
TEXT is the body of the response.

Like every HTTP client, these clients send a request again if its connection
was closed before the first byte of a response and had served a request before.
The ID of the second attempt ends in `r`."""
import errno
import heapq
import itertools
import select
import socket
import sys
import time

PATIENCE = 30.0  # seconds for a response
BREAK = 0.05  # seconds after an attempt that failed

serial = itertools.count()


class Client:
    def __init__(self, crew, host, kept, pause, query):
        self.crew = crew
        self.host = host
        self.kept = kept
        self.pause = pause
        self.query = query
        self.sock = None
        self.port = 0
        self.busy = False
        self.used = 0  # requests that this connection has served
        self.due = 0.0  # the time of timer(); an older entry is void
        self.began = 0.0
        self.number = 0
        self.id = ""
        self.response = b""

    # ---- sending

    def begin_request(self, again=""):
        if self.sock is None:
            self.connect()
        if again:
            self.id = again + "r"
        else:
            self.number = next(serial)
            self.id = f"n{self.number}"
        self.response = b""
        self.busy = True
        self.began = time.monotonic()
        self.crew.at(self.began + PATIENCE, self)
        self.send()

    def connect(self):
        self.sock = socket.socket()
        self.sock.setblocking(False)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.used = 0
        code = self.sock.connect_ex(("127.0.0.1", self.crew.port))
        assert code in (0, errno.EINPROGRESS), code
        self.port = self.sock.getsockname()[1]
        self.crew.watch(self, select.EPOLLOUT)

    def send(self):
        words = "keep-alive" if self.kept else "close"
        text = (f" /{self.id}/work?{self.query} HTTP/1.1\r\n"
                f"Host: {self.host}\r\nConnection: {words}\r\n")
        if self.number % 4:
            text = f"GET{text}\r\n"
        else:
            body = self.id * 50
            text = f"POST{text}Content-Length: {len(body)}\r\n\r\n{body}"
        try:
            self.sock.send(text.encode())
        except BlockingIOError:
            return  # not connected yet: writable() comes
        except OSError:
            self.lost()
            return
        self.crew.change(self, select.EPOLLIN)

    # ---- events

    def ready(self, events):
        if events & select.EPOLLOUT:
            self.send()
            return
        try:
            data = self.sock.recv(65536)
        except OSError:
            data = b""
        if not data or not self.busy:
            self.lost()
            return
        self.response += data
        head, end, body = self.response.partition(b"\r\n\r\n")
        if not end:
            return
        lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in
                   (line.partition(":") for line in lines[1:])}
        if len(body) >= int(headers["content-length"]):
            self.record(lines[0].split()[1], body)
            self.used += 1
            if not self.kept or "close" in headers.get("connection", ""):
                self.hang_up()
            self.rest(self.pause)

    def lost(self):
        """The connection is gone."""
        reused = self.used > 0
        self.hang_up()
        if not self.busy:
            return  # it was idle: the next request makes a new one
        self.record("cut" if self.response else "closed", b"", reused)
        if reused and not self.response:
            self.begin_request(self.id)
        else:
            self.rest(BREAK)

    def timer(self):
        if self.busy:
            self.hang_up()
            self.record("late", b"")
        if not self.crew.ending:
            self.begin_request()

    # ---- the end of a request

    def rest(self, pause):
        self.busy = False
        self.crew.at(time.monotonic() + pause, self)

    def hang_up(self):
        self.crew.forget(self)
        self.sock.close()
        self.sock = None

    def record(self, outcome, body, reused=None):
        self.busy = False
        if reused is None:
            reused = self.used > 0
        text = " ".join(body.decode("latin-1").split())[:80]
        self.crew.file.write(
            f"{self.id} {self.host} {self.port} {int(reused)} "
            f"{self.began:.6f} {time.monotonic():.6f} {outcome} {text}\n")


class Crew:
    """The clients, their sockets and their times."""

    def __init__(self, port, file):
        self.port = port
        self.file = file
        self.epoll = select.epoll()
        self.by_fd = {}
        self.times = []
        self.order = itertools.count()
        self.ending = False

    def at(self, when, client):
        client.due = when
        heapq.heappush(self.times, (when, next(self.order), client))

    def watch(self, client, events):
        self.by_fd[client.sock.fileno()] = client
        self.epoll.register(client.sock, events)

    def change(self, client, events):
        self.epoll.modify(client.sock, events)

    def forget(self, client):
        del self.by_fd[client.sock.fileno()]
        self.epoll.unregister(client.sock)

    def call(self):
        """Call the clients whose time has come. @return seconds until the next
        time"""
        now = time.monotonic()
        while self.times and self.times[0][0] <= now:
            when, _, client = heapq.heappop(self.times)
            if when == client.due:
                client.timer()
        return self.times[0][0] - now if self.times else 1.0

    def run(self, clients):
        for n, client in enumerate(clients):
            self.at(time.monotonic() + n * 0.001, client)
        self.epoll.register(sys.stdin, select.EPOLLIN)
        while not self.ending or any(client.busy for client in clients):
            for fd, events in self.epoll.poll(min(max(self.call(), 0), 1)):
                if fd == sys.stdin.fileno():
                    self.ending = True
                    self.epoll.unregister(sys.stdin)
                elif fd in self.by_fd:
                    self.by_fd[fd].ready(events)


def main():
    port, record, crowds = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    with open(record, "w", buffering=1) as file:  # it is read meanwhile
        crew = Crew(port, file)
        clients = []
        for crowd in crowds:
            count, host, kept, pause, work, size = crowd.split(",")
            clients += [Client(crew, host, kept == "1", float(pause),
                               f"s={work}&n={size}")
                        for _ in range(int(count))]
        crew.run(clients)


if __name__ == "__main__":
    main()
