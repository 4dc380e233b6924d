# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What a test may not leave behind. A test that has missed a limit of time runs
once more only if there is none of this (lib/second_look.py)."""
from missed import LIMITS

from harness import procs
from harness.httpd import Httpd


def look(httpd: Httpd, passed: bool, missed: bool) -> None:
    """Stop httpd, and find damage. After a test that failed otherwise, only
    crashes and the reports of sanitizers count: they may be the reason.
    @param missed the test has failed, but only missed a limit of time"""
    if missed:
        check_pools(httpd)
    try:
        httpd.stop()
        if missed:
            check_status(httpd)
        if passed or missed:
            none("left after the stop", httpd.remains())
    except LIMITS:
        if passed:  # This late stop is the first limit that was missed.
            missed = True
            check_pools(httpd)
        raise
    finally:
        none("reported by a sanitizer", httpd.damage())
        if passed or missed:
            none("not expected in the log", httpd.log.unexpected())
        else:
            none("crashed", httpd.log.crashes())
        if missed:
            # Elsewhere, this crash is forgiven, because httpd is its cause.
            none("crashed at the stop", httpd.log.crashes_at_stops())


def none(what: str, found: list[str]) -> None:
    assert found == [], f"{what}: {found}"


def check_pools(httpd: Httpd) -> None:
    """Each pool that runs keeps its invariants. No answer is no good one."""
    if httpd.process is None or httpd.process.poll() is not None:
        return
    for file in httpd.instance_files():
        try:
            done = httpd.ctl("--dir", str(file.parent), "check")
        except LIMITS as error:
            raise AssertionError("apppoolctl check did not end") from error
        assert done.returncode == 0, done.stdout + done.stderr


def check_status(httpd: Httpd) -> None:
    """httpd has not ended by itself."""
    if httpd.process is not None:
        code = httpd.process.returncode
        assert code == 0 or (httpd.pid, -code) in procs.SENT, \
            f"httpd ended with {code}"
