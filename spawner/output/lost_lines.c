/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/output/lost_lines.h"

#include <stdio.h>

#include "system/log.h"
#include "base/clock_ms.h"

#define SAY_FIRST 1000  /* ms from the first lost line to the log line */
#define SAY_PAUSE 10000 /* ms between two log lines */

static size_t lines;
static char reason[100];
static int64_t due; /* ms: nothing is logged before that */

void lost_lines_add(const char *text, size_t length, const char *why)
{
    if (lines == 0 && due < clock_ms() + SAY_FIRST)
        due = clock_ms() + SAY_FIRST;
    lines += log_count(text, length);
    snprintf(reason, sizeof reason, "%s", why);
}

void lost_lines_end(const char *name)
{
    if (lines == 0)
        return;
    log_line(LOG_WARN, "%s: %zu lines dropped: %s", name, lines, reason);
    lines = 0;
    due = clock_ms() + SAY_PAUSE;
}

int lost_lines_tick(const char *name)
{
    int64_t left = due - clock_ms();

    if (lines == 0)
        return -1;
    if (left > 0)
        return (int)left;
    lost_lines_end(name);
    return -1;
}
