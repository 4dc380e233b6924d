/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/view/view.h"

#include <stdlib.h>
#include <string.h>

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

/* ---- the last ten minutes ---- */

#define HISTORY   ((int64_t)APL_STEPS * APL_STEP_PERIOD)
#define CPU_STEPS 3 /* a minute */

int apl_report_steps(const apl_numbers_t *n, int64_t now,
                     apl_step_t to[APL_STEPS])
{
    uint64_t first = (uint64_t)now / APL_STEP_PERIOD + 1;
    int64_t before = 0, time;
    int i, count = 0;

    for (i = 0; n && i < APL_STEPS; i++) {
        const apl_step_t *from = &n->steps[(first + (uint64_t)i) % APL_STEPS];

        time = apl_numbers_read(&to[count], from, sizeof *to);
        if (time > before && time <= now && apl_since(now, time) < HISTORY) {
            before = time;
            count++;
        }
    }
    return count;
}

static json_t *memory_of(const apl_step_t *is)
{
    return is->memory == APL_MEMORY_UNKNOWN
               ? json_null()
               : apl_report_number((uint64_t)is->memory * 1024);
}

static json_t *step(const apl_step_t *is)
{
    static const char *const parts[] = {"p50", "p95", "p99"};
    json_t *o = json_object();
    int i;

    json_object_set_new(o, "time", apl_report_instant(is->time));
    json_object_set_new(o, "seconds", apl_report_seconds(is->span * 1000l));
    json_object_set_new(o, "requests", apl_report_number(is->requests));
    for (i = 1; i < APL_CLASSES; i++)
        json_object_set_new(o, class_words[i],
                            apl_report_number(is->responses[i - 1]));
    for (i = 0; i < 3; i++)
        json_object_set_new(o, parts[i], time_of(is->percentiles[i]));
    json_object_set_new(o, "queue", apl_report_number(is->queue));
    json_object_set_new(o, "idle", apl_report_number(is->idle));
    json_object_set_new(o, "busy", apl_report_number(is->busy));
    json_object_set_new(o, "hung", apl_report_number(is->hung));
    json_object_set_new(o, "starting", apl_report_number(is->starting));
    json_object_set_new(o, "memory", memory_of(is));
    json_object_set_new(o, "cpu",
                        json_real(is->span ? (double)is->cpu / is->span : 0));
    return o;
}

static const apl_group_t *find(const apl_pool_t *copy, const char *name)
{
    uint32_t i, top = apl_top(&copy->header->top_group, copy->n.groups);

    for (i = 1; i <= top; i++)
        if (copy->groups[i].state == APL_GROUP_USED &&
            strcmp(copy->groups[i].name, name) == 0)
            return &copy->groups[i];
    return NULL;
}

json_t *apl_report_app_history(const apl_pool_t *copy, const char *name)
{
    const apl_group_t *g = find(copy, name);
    json_t *a = json_array();
    apl_step_t all[APL_STEPS];
    int i, n;

    if (!g)
        return a;
    n = apl_report_steps(apl_numbers_of(copy, g), apl_now(), all);
    for (i = 0; i < n; i++)
        json_array_append_new(a, step(&all[i]));
    return a;
}

void apl_report_only(json_t *report, const apl_pool_t *copy, const char *name)
{
    json_t *groups = json_object_get(report, "groups"), *g;
    size_t i;

    for (i = json_array_size(groups); i-- > 0;) {
        g = json_array_get(groups, i);
        if (strcmp(json_string_value(json_object_get(g, "name")), name) != 0)
            json_array_remove(groups, i);
        else
            json_object_set_new(g, "history",
                                apl_report_app_history(copy, name));
    }
}

/* ---- what its processes use ---- */

/* Processors that were used in the last minute. */
static double cpu_of(const apl_step_t *all, int n)
{
    double used = 0, span = 0;
    int i;

    for (i = n > CPU_STEPS ? n - CPU_STEPS : 0; i < n; i++) {
        used += all[i].cpu;
        span += all[i].span;
    }
    return span > 0 ? used / span : 0;
}

/* The sum of its processes. If we may not read it, what the spawner has
 * read. */
static json_t *memory_now(const json_t *group, const apl_step_t *last)
{
    const json_t *processes = json_object_get(group, "processes"), *p;
    json_int_t sum = 0;
    size_t i;
    int unknown = 0;

    for (i = 0; (p = json_array_get(processes, i)) != NULL; i++) {
        const json_t *one = json_object_get(p, "memory");

        unknown |= !json_is_integer(one);
        sum += json_integer_value(one);
    }
    if (sum > 0 || !unknown)
        return json_integer(sum);
    return last ? memory_of(last) : json_null();
}

void apl_report_use(json_t *group, const apl_pool_t *copy, const apl_group_t *g)
{
    const apl_numbers_t *numbers = apl_numbers_of(copy, g);
    apl_step_t all[APL_STEPS];
    int n = apl_report_steps(numbers, apl_now(), all);

    json_object_set_new(
        group, "cpu_seconds",
        json_real(
            numbers
                ? (double)__atomic_load_n(&numbers->cpu, __ATOMIC_RELAXED) / 1e6
                : 0));
    json_object_set_new(group, "cpu", json_real(cpu_of(all, n)));
    json_object_set_new(group, "memory",
                        memory_now(group, n > 0 ? &all[n - 1] : NULL));
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
