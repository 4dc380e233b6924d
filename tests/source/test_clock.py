# Licensed under the Apache License, Version 2.0; see LICENSE.
"""No limit and no comparison depends on the time of day, which an administrator
or NTP may set, and which goes on while the machine sleeps."""
from source import uses

TIME_OF_DAY = r"\b(CLOCK_REALTIME\w*|apr_time_now|gettimeofday|time\(NULL\))"
# These only tell somebody when something was.
TELL = ["mod_apppool/request/app_headers.c",
        "mod_apppool/request/error_page.c",
        "mod_apppool/status/status_server.c", "shm/view/report_value.c",
        "spawner/report/alert.c", "system/log.c"]


def test_time_of_day() -> None:
    assert sorted(uses(TIME_OF_DAY, "base", "detect", "mod_apppool", "shm",
                       "spawner", "system", "watchdog")) == TELL
