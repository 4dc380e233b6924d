# Licensed under the Apache License, Version 2.0; see LICENSE.
"""An output filter of httpd that sleeps, and writes down when it did."""
import os
import subprocess
from dataclasses import dataclass

from harness.httpd import Httpd
from harness.places import apxs

# Each pass with bytes waits for up to $naps ms. The time is random, but the
# same in each run.
FILTER = r"""
#include <fcntl.h>
#include <httpd.h>
#include <http_config.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <util_filter.h>

static long long now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

static apr_status_t pass(ap_filter_t *f, apr_bucket_brigade *bb)
{
    const char *most = apr_table_get(f->r->subprocess_env, "naps");
    int ends = !APR_BRIGADE_EMPTY(bb) && APR_BUCKET_IS_EOS(APR_BRIGADE_LAST(bb));
    long long began = now();
    apr_off_t n = 0;

    apr_brigade_length(bb, 0, &n);
    if (most && n > 0)
        apr_sleep(random() % (atoi(most) * 1000) + 1);
    if (most) {
        int fd = open("DIR/naps", O_WRONLY | O_APPEND);

        dprintf(fd, "%lld %lld %lld %d\n", began, now() - began, (long long)n,
                ends);
        close(fd);
    }
    return ap_pass_brigade(f->next, bb);
}

static void hooks(apr_pool_t *p)
{
    ap_register_output_filter("NAPS", pass, NULL, AP_FTYPE_CONTENT_SET);
}

AP_DECLARE_MODULE(naps) = {STANDARD20_MODULE_STUFF, NULL, NULL, NULL,
                           NULL, NULL, hooks, 0};
"""


@dataclass
class Pass:
    began: int  # us
    slept: int  # us
    size: int
    ends: bool


def add_naps(httpd: Httpd) -> None:
    """Load it. `SetOutputFilter NAPS` and the variable naps make it sleep."""
    path = httpd.dir / "mod_naps.so"
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC",
                    "-D_GNU_SOURCE", "-I" + apxs("INCLUDEDIR"),
                    "-I" + apxs("APR_INCLUDEDIR"), "-x", "c", "-o", path, "-"],
                   input=FILTER.replace("DIR", str(httpd.dir)).encode(),
                   check=True)
    httpd.directives.append(f"LoadModule naps_module {path}")
    trace = httpd.dir / "naps"
    trace.touch()
    trace.chmod(0o666)


def passes(httpd: Httpd) -> list[Pass]:
    """Those since the last call."""
    trace = httpd.dir / "naps"
    found = [Pass(*map(int, line.split()[:3]), line.endswith("1"))
             for line in trace.read_text().splitlines()]
    os.truncate(trace, 0)
    return found
