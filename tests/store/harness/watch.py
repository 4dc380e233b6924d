# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What starts a server again when it ends, as the watchdog or systemd does."""
import subprocess
import threading
import time
from typing import Callable, Optional

from missed import Missed

from harness.servers import PATIENCE, wait_until


class Watch(threading.Thread):
    def __init__(self, launch: Callable[[], "subprocess.Popen[bytes]"]) -> None:
        super().__init__(daemon=True)
        self.launch = launch
        self.process: Optional[subprocess.Popen[bytes]] = None
        self.ended: list[tuple[float, int]] = []  # when, and the status
        self.over = threading.Event()
        self.launching = threading.Lock()  # and to say that it is over
        self.failed: Optional[BaseException] = None

    def run(self) -> None:
        """The process ends with this thread (network.py)."""
        while True:
            with self.launching:
                if self.over.is_set():
                    return
                try:
                    self.process = self.launch()
                except OSError as error:
                    self.failed = error
                    return
            began = time.monotonic()
            status = self.process.wait()
            now = time.monotonic()
            self.ended.append((now, status))
            if now - began < 0.2:
                self.over.wait(0.2)

    @property
    def pid(self) -> int:
        wait_until(lambda: self.process or self.failed, "it is started")
        assert self.process, self.failed
        return self.process.pid

    def signal(self, sign: int) -> None:
        """It is started again."""
        pid, count = self.pid, len(self.ended)
        assert self.process
        self.process.send_signal(sign)
        wait_until(lambda: len(self.ended) > count or not self.is_alive(),
                   f"{pid} has ended")

    def end(self, sign: int) -> int:
        """It stays away. @return its status"""
        with self.launching:
            self.over.set()
            if self.process and self.is_alive():
                self.process.send_signal(sign)
        self.join(PATIENCE)
        if self.is_alive():
            raise Missed("it has not ended")
        return self.ended[-1][1] if self.ended else 0
