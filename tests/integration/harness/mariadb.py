# Licensed under the Apache License, Version 2.0; see LICENSE.
"""MariaDB of Debian, at a Unix socket only."""
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

from harness.httpd import USER
from harness.machine import run
from harness.wait import wait_until

DATA, SOCKET = Path("/var/lib/mysql"), Path("/run/mysqld/mysqld.sock")


@contextmanager
def mariadb(*names: str) -> Iterator[None]:
    """Databases of these names, each of which belongs to the user of this name.
    Its password is `a secret`."""
    run("install", "-d", "-o", USER, SOCKET.parent)
    run("mariadb-install-db", "--no-defaults", f"--user={USER}",
        f"--datadir={DATA}", "--auth-root-authentication-method=normal",
        "--skip-test-db")
    server = subprocess.Popen(
        ["mariadbd", "--no-defaults", f"--user={USER}", f"--datadir={DATA}",
         f"--socket={SOCKET}", "--skip-networking",
         "--innodb-flush-log-at-trx-commit=0"], stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: serves(), "MariaDB serves")
        for name in names:
            run("mariadb", "-e", f"CREATE DATABASE {name}; GRANT ALL ON {name}.* "
                f"TO {name}@localhost IDENTIFIED BY 'a secret'")
        yield
    finally:
        server.terminate()
        server.wait(60)


def serves() -> bool:
    return subprocess.run(["mariadb", "-e", "SELECT 1"],
                          capture_output=True).returncode == 0
