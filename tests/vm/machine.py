# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A virtual machine: qemu in software emulation, with the disk, kernel and initrd
of a directory. It has no network. Its agent runs commands (guest/agent.py)."""
import json
import socket
import subprocess
import time
from pathlib import Path

BOOT = 900  # s: at most; it takes 10 s on an idle machine
END = 600
KERNEL = ("root=/dev/vda rw console=ttyS0 panic=-1 quiet no_timer_check "
          "systemd.show_status=false")


class Machine:
    """It exists while `process` is there."""

    place: Path

    def __init__(self) -> None:
        self.process: "subprocess.Popen[bytes] | None" = None

    def boot(self) -> str:
        """Start it, and wait for its agent. @return the id of this boot"""
        assert self.process is None
        path = self.place / "agent"
        path.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
            listener.listen()
            listener.settimeout(60)
            self.process = subprocess.Popen(
                self.command(path), stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL)
            self.port, _ = listener.accept()
        self.port.settimeout(BOOT)
        self.lines = self.port.makefile("rb")
        return self.hear()["boot"]

    def command(self, port: Path) -> list[str]:
        # What the guest has flushed is in the file of the disk: the end of qemu
        # is the end of the power.
        # With two processors, qemu sometimes executes half of what the kernel has
        # changed in its own code: it ends with "Oops: int3".
        return [
            "qemu-system-x86_64", "-accel", "tcg", "-smp", "1",
            "-m", "1024", "-nodefaults", "-display", "none", "-no-reboot",
            "-nic", "none", "-kernel", str(self.place / "vmlinuz"),
            "-initrd", str(self.place / "initrd"), "-append", KERNEL,
            "-drive", f"file={self.place}/disk,if=virtio,format=raw,"
            "cache=writeback", "-serial", f"file:{self.place}/console",
            "-device", "virtio-rng-pci", "-device", "virtio-serial-pci",
            "-chardev", f"socket,id=agent,path={port}",
            "-device", "virtserialport,chardev=agent,name=agent"]

    def hear(self) -> dict[str, str]:
        try:
            line = self.lines.readline()
        except OSError:  # too late, or after that
            line = b""
        assert line, "the machine does not answer; its console ends with\n" \
            + self.console()
        return dict(json.loads(line))

    def tell(self, command: str, limit: float) -> None:
        self.port.sendall(json.dumps({"command": command,
                                      "limit": limit}).encode() + b"\n")

    def console(self) -> str:
        text = (self.place / "console").read_text(errors="replace")
        return "\n".join(text.splitlines()[-30:])

    def run(self, command: str, limit: float = 600) -> tuple[int, str]:
        """@return its status and what it prints"""
        self.port.settimeout(limit + 120)
        self.tell(command, limit)
        reply = self.hear()
        return int(reply["status"]), reply["output"]

    def shell(self, command: str, limit: float = 600) -> str:
        """Run it. @return what it prints"""
        status, output = self.run(command, limit)
        assert status == 0, f"{command}: exit {status}\n{output[-4000:]}"
        return output

    def cut(self) -> None:
        """The power."""
        if self.process:
            self.process.kill()
            self.close()

    def close(self) -> None:
        assert self.process
        self.process.wait(END)
        self.process = None
        self.lines.close()
        self.port.close()

    def end_by(self, command: str) -> None:
        """The machine may be down before its agent can answer."""
        assert self.process
        self.tell(command, END)
        began = time.monotonic()
        status = self.process.wait(END)
        assert status == 0, f"qemu has ended with {status}"
        print(f"down after {time.monotonic() - began:.1f} s")
        self.close()
