# Licensed under the Apache License, Version 2.0; see LICENSE.
"""In the virtual machine: run the commands that come through its virtio port,
one after the other. machine.py is the other side. Each line is JSON."""
import json
import os
import subprocess
import time
from pathlib import Path

PORT = "/dev/virtio-ports/agent"


def done(command: str, limit: float) -> dict[str, object]:
    try:
        one = subprocess.run(command, shell=True, text=True, errors="replace",
                             timeout=limit, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except subprocess.TimeoutExpired as late:
        text = (late.stdout or b"").decode(errors="replace")
        return {"status": 124, "output": f"{text}\nafter {limit} s"}
    return {"status": one.returncode, "output": one.stdout}


def main() -> None:
    # On a busy machine, udev takes longer than systemd waits for a device.
    while not os.path.exists(PORT):
        time.sleep(0.1)
    port = os.open(PORT, os.O_RDWR | os.O_CLOEXEC)

    def say(words: dict[str, object]) -> None:
        data = json.dumps(words).encode() + b"\n"
        while data:
            data = data[os.write(port, data):]

    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    say({"boot": boot})
    with os.fdopen(port, "rb", closefd=False) as lines:
        for line in lines:
            say(done(**json.loads(line)))


main()
