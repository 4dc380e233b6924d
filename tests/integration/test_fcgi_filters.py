# Licensed under the Apache License, Version 2.0; see LICENSE.
"""FastCGI, and what httpd itself and its other modules do to a request or to
a response."""
from contextlib import closing

import pytest

from harness.client import Connection
from harness.httpd import Httpd
from harness.recorder import app_of

pytestmark = pytest.mark.mpms("event")


def test_filter_that_returns_more(httpd: Httpd) -> None:
    """An input filter of another module may return more than it was asked for.
    No byte is lost"""
    httpd.modules.append("ext_filter")
    httpd.directives += ['ExtFilterDefine grow mode=input '
                         'cmd="/bin/sed s/x/xxxxxxxx/g"']
    app_of(httpd, "fcgi", "AppBufferRequest Off", "SetInputFilter grow")
    response = httpd.post("/?echo", "shop", b"x" * 40000, timeout=60)
    assert response.body == b"x" * 320000


def test_condition_that_httpd_checks(httpd: Httpd) -> None:
    """The body of the response is not sent, and its length is not sent
    either"""
    httpd.modules.append("env")
    app_of(httpd, "fcgi", "SetEnv ap_trust_cgilike_cl 1")
    with closing(Connection(httpd.port)) as client:
        response = client.request("GET", "/?tagged", "shop")
        assert (response.status, response.text) == (200, "whole")
        for name, status in (("If-Match", 412), ("If-None-Match", 304)):
            tag = '"a"' if status == 304 else '"b"'
            response = client.request("GET", "/?tagged", "shop",
                                      headers={name: tag})
            assert (response.status, response.text) == (status, "")
