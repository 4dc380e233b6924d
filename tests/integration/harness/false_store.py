# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A store that was compromised: it says what a test wants. apppoolctl finds it
in a runtime directory of its own, without an httpd."""
import shutil
import socket
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Callable, Optional

from harness.places import CTL

Answer = Callable[[bytes], Optional[bytes]]


class FalseStore:
    """with FalseStore(name, answer) as false: false.ctl("store", ...)"""

    def __init__(self, name: str, answer: Answer) -> None:
        """@param name   of the socket
        @param answer what it sends for some bytes; None: it says nothing, and
        leaves the connection open; b"": it closes the connection"""
        self.dir = Path(tempfile.mkdtemp())
        self.path = self.dir / "m" / name
        self.path.parent.mkdir()
        self.answer = answer
        self.silent = threading.Event()  # a client waits for an answer
        self.open: list[socket.socket] = []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.path))
        self.listener.listen()
        self.thread = threading.Thread(target=self._accept, daemon=True)

    def _accept(self) -> None:
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            self.open.append(client)
            threading.Thread(target=self._serve, args=(client,),
                             daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            while data := client.recv(4096):
                answer = self.answer(data)
                if answer is None:
                    self.silent.set()
                elif answer == b"":
                    break
                else:
                    client.sendall(answer)
            client.close()
        except OSError:
            pass

    def words(self, *words: str) -> list[str]:
        return [str(CTL), "--dir", str(self.dir), *words]

    def ctl(self, *words: str) -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(self.words(*words), capture_output=True,
                              timeout=60)

    def cut(self) -> None:
        """Each connection ends."""
        while self.open:
            client = self.open.pop()
            try:
                client.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def __enter__(self) -> "FalseStore":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.path.unlink(missing_ok=True)
        self.cut()
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join(60)
        shutil.rmtree(self.dir)
