/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/view/report.h"

#include <stdlib.h>
#include <string.h>

#include "shm/lock/lock_token.h"
#include "shm/slots/hung.h"
#include "shm/slots/group.h"
#include "shm/verbs/slow_start.h"
#include "shm/view/report_statistics.h"
#include "shm/view/report_times.h"
#include "shm/view/report_value.h"
#include "shm/view/memory_use.h"

/* ---- parts ---- */

/* The state of a process in the report. */
enum {
    PROCESS_STARTING,
    PROCESS_IDLE,
    PROCESS_BUSY,
    PROCESS_HUNG,
    PROCESS_DYING,
    PROCESS_UNKILLABLE,
    PROCESS_LEAVING,
    PROCESS_WORDS
};

static const char *const process_words[PROCESS_WORDS] = {
    "starting", "idle", "busy", "hung", "dying", "unkillable", "leaving"};

static int process_state(const apl_process_t *p)
{
    switch (p->state) {
    case APL_PROCESS_LIVE:
        return p->hung           ? PROCESS_HUNG
               : p->sessions > 0 ? PROCESS_BUSY
                                 : PROCESS_IDLE;
    case APL_PROCESS_LEAVING:
        return p->unkillable                   ? PROCESS_UNKILLABLE
               : p->reason == APL_EVENT_KILLED ? PROCESS_DYING
                                               : PROCESS_LEAVING;
    default:
        return PROCESS_STARTING;
    }
}

static json_t *no_states(void)
{
    json_t *o = json_object();
    int i;

    for (i = 0; i < PROCESS_WORDS; i++)
        json_object_set_new(o, process_words[i], json_integer(0));
    return o;
}

static void count_state(json_t *owner, int state)
{
    json_t *n =
        json_object_get(json_object_get(owner, "states"), process_words[state]);

    json_integer_set(n, json_integer_value(n) + 1);
}

/* AppConcurrency of an app or a process. It is null for an app with AUTO,
 * because each of its processes has a value of its own. It is also null for a
 * process whose value is not known yet. */
static json_t *concurrency(uint32_t n)
{
    return n == APL_CONCURRENCY_AUTO ? json_null() : apl_report_number(n);
}

static json_t *report_process(const apl_group_t *g, const apl_process_t *p,
                              int64_t memory)
{
    uint32_t most = g->options.concurrency;
    json_t *o = json_object();

    apl_report_set_known(
        o, "pid", p->identity.pid ? json_integer(p->identity.pid) : NULL);
    apl_report_set_known(
        o, "id", p->state != APL_PROCESS_WANTED ? apl_report_id(p->id) : NULL);
    json_object_set_new(o, "state",
                        json_string(process_words[process_state(p)]));
    json_object_set_new(o, "sessions", apl_report_number(p->sessions));
    json_object_set_new(o, "processed", apl_report_number(p->processed));
    json_object_set_new(
        o, "concurrency",
        concurrency(most != APL_CONCURRENCY_AUTO ? most : p->wire.concurrency));
    json_object_set_new(o, "started", apl_report_instant(p->started));
    json_object_set_new(o, "last_used", apl_report_instant(p->last_used));
    apl_report_set_known(o, "memory", memory < 0 ? NULL : json_integer(memory));
    return o;
}

/* The query, if it was recorded. It is behind the path. */
static const char *query_of(const apl_session_t *s)
{
    size_t path = strnlen(s->uri, sizeof s->uri) + 1;

    return path < sizeof s->uri && s->uri[path] ? s->uri + path : NULL;
}

static const char *request_state(const apl_pool_t *copy, const apl_session_t *s)
{
    const apl_group_t *g = apl_group_at(copy, s->group);

    if (s->state != APL_SESSION_OPEN)
        return "waiting";
    if (s->long_lived)
        return "long_lived";
    return g && apl_hung_is_overdue(apl_hung_age(s, apl_now()),
                                    g->options.hung_after)
               ? "hung"
               : "busy";
}

static json_t *report_request(const apl_pool_t *copy, const apl_session_t *s,
                              int full)
{
    json_t *o = json_object();
    const apl_process_t *p = apl_process_at(copy, s->process);
    int open = s->state == APL_SESSION_OPEN;

    apl_report_set_known(
        o, "pid",
        open && p && p->identity.pid ? json_integer(p->identity.pid) : NULL);
    json_object_set_new(o, "method", apl_report_text(s->method));
    json_object_set_new(o, "uri", apl_report_text(s->uri));
    if (full && query_of(s))
        json_object_set_new(o, "query", apl_report_text(query_of(s)));
    json_object_set_new(o, "client", apl_report_text(s->client));
    json_object_set_new(o, "age",
                        apl_report_seconds(apl_since(apl_now(), s->queued)));
    json_object_set_new(o, "state", json_string(request_state(copy, s)));
    json_object_set_new(o, "abandoned", json_boolean(open && s->child == 0));
    json_object_set_new(o, "id", apl_report_number(s->ticket));
    return o;
}

static const char *group_state(const apl_group_t *g)
{
    if (g->retired)
        return "removed";
    if (apl_group_drained(g))
        return "drained";
    if (apl_group_too_many_unkillable(g))
        return "unkillable";
    if (g->failures != 0)
        return "failing";
    if (g->outdated > 0)
        return "restarting";
    if (g->size > 0)
        return "running";
    return g->spawning > 0 ? "starting" : "stopped";
}

/* The spawner wrote it without the lock, so it may be a mixture of two
 * texts. */
static json_t *report_template(const apl_template_t *t)
{
    json_t *o;

    if (t->state != APL_TEMPLATE_LOADING && t->state != APL_TEMPLATE_READY)
        return json_null();
    o = json_object();
    json_object_set_new(o, "pid", json_integer(t->pid));
    json_object_set_new(
        o, "state",
        json_string(t->state == APL_TEMPLATE_READY ? "ready" : "loading"));
    json_object_set_new(o, "started", apl_report_instant(t->started));
    json_object_set_new(o, "forked", apl_report_number(t->forked));
    return o;
}

static json_t *report_slow_start(const apl_slow_start_t *slow)
{
    json_t *o;

    if (!slow)
        return json_null();
    o = json_object();
    json_object_set_new(o, "id", apl_report_id(slow->id));
    json_object_set_new(o, "age",
                        apl_report_seconds(apl_since(apl_now(), slow->since)));
    json_object_set_new(o, "text", apl_report_text(slow->text));
    return o;
}

static json_t *report_group(const apl_pool_t *copy, const apl_group_t *g)
{
    const apl_options_t *o = &g->options;
    int failed = g->error[0] != 0;
    json_t *j = json_object();

    json_object_set_new(j, "name", apl_report_text(g->name));
    json_object_set_new(j, "app_root", apl_report_text(g->root));
    json_object_set_new(j, "state", json_string(group_state(g)));
    json_object_set_new(j, "size", apl_report_number(g->size));
    json_object_set_new(j, "spawning", apl_report_number(g->spawning));
    json_object_set_new(j, "states", no_states());
    json_object_set_new(j, "outdated", apl_report_number(g->outdated));
    json_object_set_new(j, "queue", apl_report_number(g->waiting));
    json_object_set_new(j, "max", apl_report_number(o->max_instances));
    json_object_set_new(j, "min", apl_report_number(o->min_instances));
    json_object_set_new(j, "concurrency", concurrency(o->concurrency));
    json_object_set_new(j, "requests_total", apl_report_number(g->n_requests));
    json_object_set_new(j, "restarts", apl_report_number(g->n_restarts));
    json_object_set_new(j, "spawned", apl_report_number(g->n_spawned));
    json_object_set_new(j, "start_failures", apl_report_number(g->n_failed));
    json_object_set_new(j, "died", apl_report_number(g->n_died));
    json_object_set_new(j, "queue_time", apl_report_histogram(&g->queue_time));
    json_object_set_new(j, "app_time", apl_report_histogram(&g->app_time));
    apl_report_set_known(j, "last_error",
                         failed ? apl_report_text(g->error) : NULL);
    apl_report_set_known(j, "last_error_id",
                         failed ? apl_report_id(g->error_id) : NULL);
    apl_report_set_known(j, "last_error_time",
                         failed ? apl_report_instant(g->failed_at) : NULL);
    json_object_set_new(j, "slow_start",
                        report_slow_start(apl_slow_start_of(copy, g)));
    json_object_set_new(j, "template", report_template(&g->template));
    json_object_set_new(j, "processes", json_array());
    json_object_set_new(j, "requests", json_array());
    return j;
}

static json_t *report_pool(const apl_header_t *h)
{
    json_t *o = json_object();

    json_object_set_new(o, "max", apl_report_number(h->max));
    json_object_set_new(o, "count", apl_report_number(h->count));
    json_object_set_new(o, "active", apl_report_number(h->active));
    json_object_set_new(o, "spawning", apl_report_number(h->spawning));
    json_object_set_new(o, "waiting", apl_report_number(h->waiting));
    json_object_set_new(o, "leaving", apl_report_number(h->leaving));
    json_object_set_new(o, "states", no_states());
    json_object_set_new(o, "config", apl_report_number(h->config));
    json_object_set_new(o, "out", json_boolean(h->out == 1));
    return o;
}

/* ---- the whole ---- */

/* Measure all processes. @return an array, to be freed */
static apl_memory_use_t *memory_of_all(const apl_pool_t *copy, uint32_t *n)
{
    uint32_t i, top = copy->header->top_process;
    apl_memory_use_t *all = calloc(copy->n.processes, sizeof *all);

    *n = 0;
    for (i = 1; all && i <= top && i < copy->n.processes; i++)
        if (copy->processes[i].state != APL_PROCESS_FREE)
            all[(*n)++].identity = copy->processes[i].identity;
    apl_memory_use_measure(all, *n);
    return all;
}

/* One pass over each slot array. by_group[i] is the object of group i. */
static void report_slots(const apl_pool_t *copy, json_t *pool,
                         json_t **by_group, int full)
{
    const apl_header_t *h = copy->header;
    uint32_t i, n;
    apl_memory_use_t *memory = memory_of_all(copy, &n);

    for (i = 1; i <= h->top_process && i < copy->n.processes; i++) {
        const apl_process_t *p = &copy->processes[i];

        if (p->state == APL_PROCESS_FREE || p->group >= copy->n.groups ||
            !by_group[p->group])
            continue;
        json_array_append_new(
            json_object_get(by_group[p->group], "processes"),
            report_process(&copy->groups[p->group], p,
                           apl_memory_use_of(memory, n, p->identity.pid)));
        count_state(by_group[p->group], process_state(p));
        count_state(pool, process_state(p));
    }
    free(memory);
    for (i = 1; i <= h->top_session && i < copy->n.sessions; i++) {
        const apl_session_t *s = &copy->sessions[i];

        if (s->state != APL_SESSION_FREE && s->group < copy->n.groups &&
            by_group[s->group])
            json_array_append_new(
                json_object_get(by_group[s->group], "requests"),
                report_request(copy, s, full));
    }
}

json_t *apl_report_json(const apl_pool_t *copy, int full)
{
    const apl_header_t *h = copy->header;
    json_t *report = json_object(), *groups = json_array();
    json_t *pool = report_pool(h);
    json_t **by_group = calloc(copy->n.groups, sizeof *by_group);
    uint32_t i;

    for (i = 1; by_group && i <= h->top_group && i < copy->n.groups; i++)
        if (copy->groups[i].state == APL_GROUP_USED) {
            by_group[i] = report_group(copy, &copy->groups[i]);
            json_array_append_new(groups, by_group[i]);
        }
    if (by_group)
        report_slots(copy, pool, by_group, full);
    free(by_group);
    json_object_set_new(report, "version", json_integer(1));
    json_object_set_new(report, "pool", pool);
    json_object_set_new(report, "counters", apl_report_counters(&h->counters));
    json_object_set_new(report, "groups", groups);
    json_object_set_new(report, "events", apl_report_events(h));
    json_object_set_new(report, "history", apl_report_history(h));
    return report;
}
