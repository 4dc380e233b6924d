/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/view/view.h"

#include <stdlib.h>

#include "shm/format/timing.h"
#include "shm/lock/lock_token.h"
#include "shm/slots/numbers.h"

static const char *const class_words[APL_CLASSES] = {"1xx", "2xx", "3xx", "4xx",
                                                     "5xx"};

static const char *const fault_words[] = {
    [APL_FAULT_NONE] = "none",
    [APL_FAULT_QUEUE_FULL] = "queue_full",
    [APL_FAULT_QUEUE_TIMEOUT] = "queue_timeout",
    [APL_FAULT_START_FAILED] = "start_failed",
    [APL_FAULT_DIED] = "died",
    [APL_FAULT_KILLED] = "killed",
    [APL_FAULT_BAD_RESPONSE] = "bad_response",
    [APL_FAULT_OTHER] = "other",
};
_Static_assert(sizeof fault_words / sizeof *fault_words == APL_FAULTS,
               "each fault has a word");

static const char *const window_words[APL_WINDOWS] = {"1m", "5m", "60m"};

/* ---- counters ---- */

static json_t *count(const uint64_t *n)
{
    return n ? apl_report_figure(n) : json_integer(0);
}

static json_t *responses(const apl_numbers_t *n)
{
    json_t *o = json_object();
    int i;

    for (i = 0; i < APL_CLASSES; i++)
        json_object_set_new(o, class_words[i],
                            count(n ? &n->responses[i] : NULL));
    return o;
}

static json_t *errors(const apl_numbers_t *n)
{
    json_t *o = json_object();
    int i;

    for (i = 1; i < APL_FAULTS; i++)
        json_object_set_new(o, fault_words[i],
                            count(n ? &n->faults[i - 1] : NULL));
    return o;
}

/* ---- windows ---- */

/* The time of a class, in seconds. */
static json_t *time_of(uint32_t class)
{
    return class < APL_TIMES ? json_real((double)apl_timing_value(class) / 1e6)
                             : json_null();
}

static json_t *window(const apl_window_t *is)
{
    json_t *o = json_object();
    double span = is->span > 0 ? (double)is->span / 1e6 : 0;
    uint64_t requests = 0;
    int i;

    for (i = 0; i < APL_CLASSES; i++)
        requests += is->responses[i];
    json_object_set_new(o, "seconds", json_real(span));
    json_object_set_new(o, "requests", apl_report_number(requests));
    json_object_set_new(o, "rate",
                        json_real(span > 0 ? (double)requests / span : 0));
    json_object_set_new(o, "errors",
                        apl_report_number(is->responses[APL_CLASSES - 1]));
    json_object_set_new(o, "p50",
                        time_of(apl_timing_percentile(is->times, 50)));
    json_object_set_new(o, "p95",
                        time_of(apl_timing_percentile(is->times, 95)));
    json_object_set_new(o, "p99",
                        time_of(apl_timing_percentile(is->times, 99)));
    return o;
}

static json_t *recent(const apl_numbers_t *n)
{
    static const apl_window_t nothing;
    int64_t now = apl_now();
    json_t *o = json_object();
    apl_window_t is;
    int i;

    for (i = 0; i < APL_WINDOWS; i++) {
        if (n)
            apl_numbers_window(n, i, now, &is);
        json_object_set_new(o, window_words[i], window(n ? &is : &nothing));
    }
    return o;
}

/* ---- deaths ---- */

static json_t *death(const apl_death_t *is)
{
    json_t *o = json_object();

    json_object_set_new(o, "reason",
                        is->reason[0] ? apl_report_text(is->reason)
                                      : json_string("died"));
    json_object_set_new(o, "count", apl_report_number(is->count));
    json_object_set_new(o, "last", apl_report_instant(is->last));
    return o;
}

/* The last one comes first. */
static int later(const void *a, const void *b)
{
    const apl_death_t *one = a, *other = b;

    return (one->last < other->last) - (one->last > other->last);
}

static json_t *deaths(const apl_numbers_t *n)
{
    json_t *a = json_array();
    apl_death_t all[APL_DEATHS];
    int i;

    if (!n)
        return a;
    apl_copy(all, n->deaths, sizeof all);
    qsort(all, APL_DEATHS, sizeof *all, later);
    for (i = 0; i < APL_DEATHS; i++)
        if (all[i].last != 0) {
            all[i].reason[sizeof all->reason - 1] = 0;
            json_array_append_new(a, death(&all[i]));
        }
    return a;
}

void apl_report_numbers(json_t *group, const apl_pool_t *copy,
                        const apl_group_t *g)
{
    const apl_numbers_t *n = apl_numbers_of(copy, g);

    json_object_set_new(group, "responses", responses(n));
    json_object_set_new(group, "errors", errors(n));
    json_object_set_new(group, "bytes", count(n ? &n->bytes : NULL));
    json_object_set_new(group, "recent", recent(n));
    json_object_set_new(group, "deaths", deaths(n));
}
