# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The recipe of doc/apps.md for Socket.IO with node, which Debian does not
have."""
import pytest

from harness import npm
from harness.httpd import Httpd
from npm import DAY
from test_parked_recipes import SocketIo, lay_out, serves

pytestmark = [pytest.mark.in_long("it installs packages of npm"),
              pytest.mark.mpms("event"), pytest.mark.bound(400)]


def test_socket_io(httpd: Httpd) -> None:
    npm.need_registry()
    app = lay_out(httpd, "Socket.IO with node")
    npm.run(f"npm install --before={DAY} socket.io", app.root)
    serves(httpd, app, SocketIo)
