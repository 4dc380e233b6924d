# Licensed under the Apache License, Version 2.0; see LICENSE.
"""soak.py SECONDS [SEED]: for tests/soak, which builds before."""
import os
import sys
import time
import traceback

from harness.httpd import Httpd
from harness.soak import soak


def one(mpm: str, seconds: float, seed: int) -> tuple[int, int, int]:
    """How many requests were lost, wrong, and what else is not as it
    should be."""
    print(f"{mpm}, {seconds:.0f} s, seed {seed}", flush=True)
    httpd = Httpd(mpm)
    bad = True
    try:
        run = soak(httpd, seconds, seed)
        httpd.stop()
        left = httpd.remains() + httpd.log.unexpected()
        print("\n".join([*run.report(), run.history.complaints(), *left]))
        lost, wrong = len(run.history.lost), len(run.history.wrong)
        bad = bool(lost or wrong or left)
        return lost, wrong, len(left)
    except Exception:
        traceback.print_exc()
        return 0, 0, 1
    finally:
        if bad:
            httpd.keep_logs(f"soak-{mpm}")
        httpd.destroy()


def main() -> None:
    seconds = int(sys.argv[1])
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
    only = os.environ.get("APPPOOL_MPM")
    mpms = [only] if only else ["prefork", "event"]
    sums = [sum(column) for column in
            zip(*(one(mpm, seconds / len(mpms), seed) for mpm in mpms))]
    print(f"{sums[0]} lost, {sums[1]} wrong"
          + (f", {sums[2]} more complaints" if sums[2] else ""))
    sys.exit(any(sums))


main()
