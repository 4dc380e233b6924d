# Licensed under the Apache License, Version 2.0; see LICENSE.
"""No limit and no comparison depends on the time of day, which an administrator
or NTP may set, and which goes on while the machine sleeps."""
from source import uses

TIME_OF_DAY = r"\b(CLOCK_REALTIME\w*|apr_time_now|gettimeofday|time\(NULL\))"
# These tell somebody when something was, or what the age of that is.
TELL = ["ctl/store_command.c", "ctl/top.c", "ctl/values.c",
        "mod_apppool/request/app_headers.c",
        "mod_apppool/request/error_page.c",
        "mod_apppool/status/status_server.c", "shm/view/report_value.c",
        "spawner/report/alert.c", "store/cluster/feeder.c",
        "store/cluster/role.c", "store/memory/region.c",
        "store/protocol/stats.c", "store/server/save.c",
        "store/server/snapshot.c", "system/log.c"]
# A look again follows.
AGAIN = ["ctl/doctor_instance.c"]
# The clocks of two hosts are compared.
COMPARE = ["store/cluster/hello.c"]
# A number that is higher than those before, with another rule beside it.
COUNT = ["store/cluster/history.c", "store/cluster/promotion.c"]
# Clients write it.
CLIENTS = ["store/clock.c"]


def test_time_of_day() -> None:
    assert sorted(uses(TIME_OF_DAY)) == sorted(
        TELL + AGAIN + COMPARE + COUNT + CLIENTS)
