/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/tosyslog.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#define SYSLOG_NAMES
#include <syslog.h>

/* local7 is httpd's default. */
static int facility_of(const char *name)
{
    const CODE *c;

    for (c = facilitynames; c->c_name; c++)
        if (strcasecmp(c->c_name, name) == 0)
            return c->c_val;
    return LOG_LOCAL7;
}

static void open_once(const char *where)
{
    static char facility[32], tag[128] = "httpd";
    static int is_open;
    const char *second, *first = strchr(where, ':');
    size_t n;

    if (is_open)
        return;
    is_open = 1;
    if (first) {
        n = strcspn(first + 1, ":");
        snprintf(facility, sizeof facility, "%.*s", (int)n, first + 1);
        second = first[1 + n] ? first + 2 + n : "";
        if (*second)
            snprintf(tag, sizeof tag, "%s", second);
    }
    openlog(tag, LOG_NDELAY | LOG_CONS, facility_of(facility));
}

void tosyslog_write(const char *where, const char *text, size_t length)
{
    open_once(where);
    while (length > 0) {
        const char *end = memchr(text, '\n', length);
        size_t n = end ? (size_t)(end - text) : length;
        const char *rest = memmem(text, n, "] ", 2);

        rest = rest ? rest + 2 : text;
        syslog(LOG_INFO, "%.*s", (int)(text + n - rest), rest);
        n += end != NULL;
        text += n;
        length -= n;
    }
}
