/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Events that repeat become one line of the report. */

#include "shm/view/view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
/* Its own order matters. */
#include <cmocka.h>

/* @param at seconds @param reason NULL: it has none */
static void happen(json_t *events, int at, const char *app, const char *event,
                   const char *reason)
{
    json_int_t n = (json_int_t)json_array_size(events);
    char time[80];
    json_t *o;

    snprintf(time, sizeof time, "2026-02-28T%02d:%02d:%02d.250Z", at / 3600,
             at / 60 % 60, at % 60);
    o = json_pack("{sI ss ss ss ss*}", "number", n, "time", time, "app", app,
                  "event", event, "reason", reason);
    json_array_append_new(events, o);
}

static void is(const json_t *lines, size_t i, json_int_t number,
               json_int_t count, const char *first)
{
    const json_t *line = json_array_get(lines, i);

    assert_int_equal(json_integer_value(json_object_get(line, "number")),
                     number);
    assert_int_equal(json_integer_value(json_object_get(line, "count")), count);
    assert_string_equal(json_string_value(json_object_get(line, "first")),
                        first);
}

static void a_line_has_the_last_event(void **state)
{
    json_t *events = json_array(), *lines;

    (void)state;
    happen(events, 0, "a", "ready", NULL);
    happen(events, 10, "a", "died", "signal 9");
    happen(events, 20, "a", "ready", NULL);
    happen(events, 30, "b", "ready", NULL);
    happen(events, 40, "a", "died", "signal 9");
    happen(events, 50, "a", "died", "signal 11");
    lines = apl_report_folded(events);
    assert_int_equal(json_array_size(lines), 4);
    is(lines, 0, 2, 2, "2026-02-28T00:00:00.250Z");
    is(lines, 1, 3, 1, "2026-02-28T00:00:30.250Z");
    is(lines, 2, 4, 2, "2026-02-28T00:00:10.250Z");
    is(lines, 3, 5, 1, "2026-02-28T00:00:50.250Z");
    /* The events stay as they are. */
    assert_null(json_object_get(json_array_get(events, 0), "count"));
    json_decref(lines);
    json_decref(events);
}

/* Ten minutes apart they are one line; later they are two. */
static void a_pause_begins_another_line(void **state)
{
    json_t *events = json_array(), *lines;

    (void)state;
    happen(events, 3000, "a", "idle", NULL);
    happen(events, 3600, "a", "idle", NULL);
    happen(events, 4201, "a", "idle", NULL);
    lines = apl_report_folded(events);
    assert_int_equal(json_array_size(lines), 2);
    is(lines, 0, 1, 2, "2026-02-28T00:50:00.250Z");
    is(lines, 1, 2, 1, "2026-02-28T01:10:01.250Z");
    json_decref(lines);
    json_decref(events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_has_the_last_event),
        cmocka_unit_test(a_pause_begins_another_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
