/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/view/view.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define APART 600 /* s between two events of one line, at most */

/* A time of the report, in seconds since 1970. */
static double seconds_of(const json_t *iso)
{
    const char *text = json_string_value(iso);
    struct tm tm = {0};
    double seconds;

    if (!text || sscanf(text, "%d-%d-%dT%d:%d:%lfZ", &tm.tm_year, &tm.tm_mon,
                        &tm.tm_mday, &tm.tm_hour, &tm.tm_min, &seconds) != 6)
        return 0;
    tm.tm_year -= 1900;
    tm.tm_mon--;
    return (double)timegm(&tm) + seconds;
}

static int is_same(const json_t *a, const json_t *b, const char *key)
{
    const json_t *left = json_object_get(a, key),
                 *right = json_object_get(b, key);

    return (!left && !right) || json_equal(left, right);
}

static int repeats(const json_t *line, const json_t *event)
{
    return is_same(line, event, "app") && is_same(line, event, "event") &&
           is_same(line, event, "reason") &&
           seconds_of(json_object_get(event, "time")) -
                   seconds_of(json_object_get(line, "time")) <=
               APART;
}

json_t *apl_report_folded(const json_t *events)
{
    json_t *lines = json_array(), *event, *line, *next;
    json_int_t count;
    size_t i, j;

    json_array_foreach(events, i, event)
    {
        next = json_copy(event);
        count = 1;
        json_object_set(next, "first", json_object_get(event, "time"));
        json_array_foreach(lines, j, line)
        {
            if (!repeats(line, event))
                continue;
            count += json_integer_value(json_object_get(line, "count"));
            json_object_set(next, "first", json_object_get(line, "first"));
            json_array_remove(lines, j);
            break;
        }
        json_object_set_new(next, "count", json_integer(count));
        json_array_append_new(lines, next);
    }
    return lines;
}
