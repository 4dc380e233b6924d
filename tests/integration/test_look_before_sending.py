# Licensed under the Apache License, Version 2.0; see LICENSE.
"""httpd looks at a kept connection before it sends a request on it."""
import os
from contextlib import closing

import pytest

from harness.client import Connection
from harness.httpd import Httpd
from harness.preloaded import preload
from harness.wait import wait_until
from test_shared_connection import LOGGED, good, number

# httpd asks whether the app has read the request, and hears: yes, by now.
READS_FIRST = r"""
#include <linux/sockios.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int ioctl(int fd, unsigned long what, ...)
{
    va_list more;
    int *bytes, rv;

    va_start(more, what);
    bytes = va_arg(more, int *);
    va_end(more);
    while ((rv = syscall(SYS_ioctl, fd, what, bytes)) == 0 &&
           what == SIOCOUTQ && *bytes > 0)
        sched_yield();
    return rv;
}
"""


@pytest.mark.one_mpm("one function connects, sends and reads")
@pytest.mark.parametrize("concurrency", [0, 1])
def test_byte_before_a_request_that_is_read(httpd: Httpd,
                                            concurrency: int) -> None:
    """Only a look before the request is sent finds it for sure"""
    preload(httpd, READS_FIRST)
    httpd.log.expect(*LOGGED)
    httpd.app("shop", f"AppConcurrency {concurrency}", "MaxInstances 1",
              program="keeper.py")
    httpd.start()
    with closing(Connection(httpd.port)) as client:
        good(client.request("GET", "/ok", "shop"))
        used = number(client.request("GET", "/late", "shop"))
        fifo = httpd.dir / "shop" / "tmp" / "late"
        wait_until(fifo.exists, "the response was sent")
        os.close(os.open(fifo, os.O_WRONLY))
        wait_until(lambda: "sent" in httpd.requests_seen(),
                   "and what is too much")
        for _ in range(3):
            assert good(client.request("GET", "/ok", "shop")) > used
