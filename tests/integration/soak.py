# Licensed under the Apache License, Version 2.0; see LICENSE.
"""soak.py [--hostile [ATTACK,...]] SECONDS [SEED]: the program of tests/soak,
which builds everything first."""
import os
import sys
import time
import traceback
from typing import Callable, Union

from harness.hostile import ATTACKS, WORST, Hostile, hostile
from harness.httpd import Httpd
from harness.soak import Soak, soak

Run = Callable[[Httpd, float, int], Union[Soak, Hostile]]


def one(run: Run, mpm: str, seconds: float, seed: int) -> tuple[list[int],
                                                                list[str]]:
    """The number of requests that were lost or wrong, other defects, and the
    rest of the last line."""
    print(f"{mpm}, {seconds:.0f} s, seed {seed}", flush=True)
    httpd = Httpd(mpm)
    bad = True
    try:
        done = run(httpd, seconds, seed)
        httpd.stop()
        left = httpd.remains() + httpd.log.unexpected()
        more = []
        if isinstance(done, Hostile):
            more = [f"{mpm}: {done.verdict()}"]
            left += done.stolen
            if done.ratio() >= WORST:
                left.append(f"the ratio is not below {WORST}")
        print("\n".join([*done.report(), done.history.complaints(), *left]))
        lost, wrong = len(done.history.lost), len(done.history.wrong)
        bad = bool(lost or wrong or left)
        return [lost, wrong, len(left)], more
    except Exception:
        traceback.print_exc()
        return [0, 0, 1], []
    finally:
        if bad:
            httpd.keep_logs(f"soak-{mpm}")
        httpd.destroy()


def main() -> None:
    words = sys.argv[1:]
    run: Run = soak
    if words[0] == "--hostile":
        words.pop(0)
        attacks = ATTACKS
        if not words[0].isdigit():
            attacks = tuple(words.pop(0).split(","))
        run = lambda *what: hostile(*what, attacks)
    seconds = int(words[0])
    seed = int(words[1]) if len(words) > 1 else int(time.time())
    only = os.environ.get("APPPOOL_MPM")
    mpms = [only] if only else ["prefork", "event"]
    runs = [one(run, mpm, seconds / len(mpms), seed) for mpm in mpms]
    lost, wrong, more = (sum(column) for column in
                         zip(*(counts for counts, _ in runs)))
    print("; ".join([f"{lost} lost, {wrong} wrong"
                     + (f", {more} more complaints" if more else ""),
                     *(word for _, words in runs for word in words)]))
    sys.exit(bool(lost or wrong or more))


main()
