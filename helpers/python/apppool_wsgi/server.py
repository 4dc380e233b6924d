# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Serves the connections, one request after the other."""
import os
import select
import signal
import socket
import sys

from apppool_wsgi.connection import RECV, Connection, Gone
from apppool_wsgi.load import say
from apppool_wsgi.request import BadRequest, body_of, decoded, parse
from apppool_wsgi.response import FileWrapper, Response

HEAD_MAX = 1 << 20
SIGNALS = signal.SIGTERM, signal.SIGINT, signal.SIGQUIT


class Server:
    def __init__(self, application, listener):
        self.application = application
        self.listener = listener
        self.ending = False
        self.replaced = {}  # signal handlers, by number
        self.connections = {}  # by descriptor
        self.host = self.place = None  # of the last request
        self.is_local = listener.family == socket.AF_UNIX
        self.environ = {
            "SCRIPT_NAME": "", "REMOTE_ADDR": "", "SERVER_NAME": "localhost",
            "SERVER_PORT": "80", "SERVER_SOFTWARE": "mod_apppool",
            "wsgi.version": (1, 0), "wsgi.url_scheme": "http",
            "wsgi.errors": sys.stderr, "wsgi.multithread": False,
            "wsgi.multiprocess": True, "wsgi.run_once": False,
            "wsgi.file_wrapper": FileWrapper, "wsgi.input_terminated": True}

    # ---- which connection

    def run(self):
        """Serve until a signal asks the process to end."""
        wake, wakes = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(wakes, False)
        signal.set_wakeup_fd(wakes)
        for number, was in ((number, signal.getsignal(number))
                            for number in SIGNALS):
            if was in (signal.SIG_DFL, signal.default_int_handler):
                signal.signal(number, self.end)
                self.replaced[number] = was
        os.register_at_fork(before=self.before_fork,
                            after_in_parent=self.after_fork,
                            after_in_child=self.after_fork_in_child)
        self.listener.setblocking(False)
        self.poll = select.poll()
        for fd in (wake, self.listener.fileno()):
            self.poll.register(fd, select.POLLIN)
        while not self.ending:
            for fd, _ in self.poll.poll():
                if fd == wake:
                    os.read(wake, 4096)
                elif fd == self.listener.fileno():
                    self.accept()
                elif not self.ending:
                    self.attend(fd)

    def end(self, number, frame):
        """A signal has come. The current request is still finished."""
        self.ending = True

    # The application may fork a process. A signal ends that process as it
    # would end it without this server. If the signal comes before the process
    # has handlers of its own, the signal waits for them.

    def before_fork(self):
        self.mask = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)

    def after_fork(self):
        signal.pthread_sigmask(signal.SIG_SETMASK, self.mask)

    def after_fork_in_child(self):
        for number, was in self.replaced.items():
            if signal.getsignal(number) == self.end:
                signal.signal(number, was)
        signal.set_wakeup_fd(-1)
        self.after_fork()

    def accept(self):
        try:
            connection = Connection(self.listener.accept()[0])
        except OSError:  # the client has closed it already
            return
        fd = connection.socket.fileno()
        self.connections[fd] = connection
        self.poll.register(fd, select.POLLIN)
        self.attend(fd)

    def attend(self, fd):
        """Serve requests until none has come for some time."""
        connection = self.connections[fd]
        try:
            while self.converse(connection):
                if len(self.connections) > 1 and not connection.rest:
                    return
        except BlockingIOError:
            return
        except OSError:
            pass
        self.poll.unregister(fd)
        del self.connections[fd]
        connection.socket.close()

    # ---- a request

    def converse(self, connection):
        """Serve one request. @return whether there may be another one"""
        data = connection.rest
        end = data.find(b"\r\n\r\n")
        while end < 0:
            if len(data) > HEAD_MAX:
                return self.refuse(connection, "400 Bad Request")
            more = connection.socket.recv(RECV)
            if not more:
                return False
            start = max(len(data) - 3, 0)
            connection.rest = data = data + more if data else more
            end = data.find(b"\r\n\r\n", start)
        connection.rest = data[end + 4:]
        environ = self.environ.copy()
        try:
            parse(data[:end], environ)
            environ["wsgi.input"], body = body_of(environ, connection)
        except BadRequest as error:
            say(f"a request is refused: {error}")
            return self.refuse(connection, "400 Bad Request")
        self.describe(environ, connection)
        version = environ["SERVER_PROTOCOL"]
        closes = version != "HTTP/1.1" or "HTTP_CONNECTION" in environ \
            and "close" in environ["HTTP_CONNECTION"].lower()
        response = Response(connection, environ["REQUEST_METHOD"], version,
                            closes or self.ending)
        is_whole = self.respond(environ, response)
        if body is not None:
            is_whole = body.drain() and is_whole
        return is_whole and not response.closes and not self.ending

    def describe(self, environ, connection):
        """Add what is known about the client and the URL of the
        application."""
        get = environ.get
        if self.is_local:
            if "HTTP_X_FORWARDED_FOR" in environ:
                client = environ["HTTP_X_FORWARDED_FOR"]
                if "," in client:
                    client = client.rpartition(",")[2].strip()
                environ["REMOTE_ADDR"] = client
            if get("HTTP_X_FORWARDED_PROTO") == "https":
                environ["wsgi.url_scheme"] = "https"
                environ["HTTPS"] = "on"
                environ["SERVER_PORT"] = "443"
            prefix = get("HTTP_X_FORWARDED_PREFIX")
            if prefix:
                target = environ["REQUEST_URI"]
                environ["SCRIPT_NAME"] = decoded(prefix)
                if "HTTP_X_FORWARDED_URI" in environ:  # no slash after it
                    target = target[1:]
                environ["REQUEST_URI"] = prefix + target
        else:
            environ["REMOTE_ADDR"] = connection.socket.getpeername()[0]
        host = get("HTTP_HOST")
        if host != self.host:
            self.host = host
            name, _, port = (host or "").rpartition(":")
            self.place = (name, port) if name and port.isdecimal() \
                else (host, None)
        if host:
            name, port = self.place
            environ["SERVER_NAME"] = name
            if port:
                environ["SERVER_PORT"] = port

    def respond(self, environ, response):
        """@return whether the response is complete"""
        result = None
        try:
            try:
                result = self.application(environ, response.start)
                response.send_all(result)
            finally:
                response.ended = True
                if hasattr(result, "close"):
                    result.close()
            return True
        except Gone:
            if not response.sent:
                self.refuse(response.connection, "400 Bad Request")
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException:
            sys.__excepthook__(*sys.exc_info())
            if not response.sent:
                self.refuse(response.connection, "500 Internal Server Error",
                            response.method != "HEAD")
        return False

    def refuse(self, connection, status, has_body=True):
        """@return 0: the connection ends"""
        body = status.encode() + b"\n"
        connection.send(
            b"HTTP/1.1 %b\r\nContent-Type: text/plain\r\n"
            b"Content-Length: %d\r\nConnection: close\r\n\r\n%b"
            % (status.encode(), len(body), body if has_body else b""))
        return 0
