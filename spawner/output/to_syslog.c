/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/output/to_syslog.h"

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

/* "[apppool:error] ..." */
static int level_of(const char *line, size_t length)
{
    const char *name = memchr(line, ':', length);
    const CODE *c;

    for (c = prioritynames; name && c->c_name; c++) {
        size_t n = strlen(c->c_name);

        if (n + 2 <= length - (size_t)(name - line) && name[n + 1] == ']' &&
            strncmp(name + 1, c->c_name, n) == 0)
            return c->c_val;
    }
    return LOG_INFO;
}

static void write_line(const char *line, size_t length)
{
    const char *time = memchr(line, ']', length);
    size_t n = time ? (size_t)(time - line) + 2 : 0;

    if (n > length)
        n = 0;
    syslog(level_of(line + n, length - n), "%.*s", (int)(length - n), line + n);
}

void to_syslog_write(const char *where, const char *text, size_t length)
{
    const char *end;

    open_once(where);
    for (; (end = memchr(text, '\n', length)) != NULL; text = end + 1) {
        write_line(text, (size_t)(end - text));
        length -= (size_t)(end - text) + 1;
    }
}
