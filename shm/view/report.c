/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/view/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/format/histogram.h"
#include "shm/lock/lock_token.h"
#include "shm/slots/group.h"
#include "shm/slots/hung.h"
#include "shm/slots/session.h"
#include "shm/verbs/group_start.h"

/* ---- histograms ---- */

/* {"count", "sum", "buckets": [{"le", "count"}, ...]}, as OpenMetrics counts:
 * each bucket includes those below it. The bucket without a bound is left
 * out. */
static json_t *report_histogram(const apl_histogram_t *h)
{
    json_t *o = json_object(), *buckets = json_array();
    uint64_t n = 0;
    int i;

    for (i = 0; i < APL_HISTOGRAM_BOUNDS; i++) {
        json_t *bucket = json_object();

        n += h->counts[i];
        json_object_set_new(bucket, "le",
                            json_real((double)apl_histogram_bounds[i] / 1e6));
        json_object_set_new(bucket, "count", json_integer((json_int_t)n));
        json_array_append_new(buckets, bucket);
    }
    n += h->counts[APL_HISTOGRAM_BOUNDS];
    json_object_set_new(o, "count", json_integer((json_int_t)n));
    json_object_set_new(o, "sum", json_real((double)h->sum / 1e6));
    json_object_set_new(o, "buckets", buckets);
    return o;
}

/* ---- processes, requests, groups ---- */

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

/* @param suspended its connections that hold no worker of httpd */
static json_t *report_process(const apl_group_t *g, const apl_process_t *p,
                              uint32_t suspended, int64_t memory)
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
    json_object_set_new(o, "suspended", apl_report_number(suspended));
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

/* What comes after failed starts. */
static void report_next_try(json_t *j, const apl_group_t *g)
{
    int64_t left = apl_since(g->retry_at, apl_now());

    json_object_set_new(j, "failures", apl_report_number(g->failures));
    apl_report_set_known(j, "failing_since",
                         g->failures ? apl_report_instant(g->failing_at)
                                     : NULL);
    apl_report_set_known(j, "next_try",
                         g->failures ? apl_report_seconds(left > 0 ? left : 0)
                                     : NULL);
}

static json_t *report_group(const apl_pool_t *copy, const apl_group_t *g,
                            int parts)
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
    json_object_set_new(j, "suspended", apl_report_number(0));
    json_object_set_new(j, "max_queue", apl_report_number(o->max_queue));
    json_object_set_new(j, "max", apl_report_number(o->max_instances));
    json_object_set_new(j, "min", apl_report_number(o->min_instances));
    json_object_set_new(j, "concurrency", concurrency(o->concurrency));
    json_object_set_new(j, "requests_total", apl_report_number(g->n_requests));
    json_object_set_new(j, "restarts", apl_report_number(g->n_restarts));
    json_object_set_new(j, "spawned", apl_report_number(g->n_spawned));
    json_object_set_new(j, "start_failures", apl_report_number(g->n_failed));
    json_object_set_new(j, "died", apl_report_number(g->n_died));
    if (!(parts & APL_REPORT_BRIEF)) {
        json_object_set_new(j, "queue_time", report_histogram(&g->queue_time));
        json_object_set_new(j, "app_time", report_histogram(&g->app_time));
    }
    apl_report_numbers(j, copy, g);
    apl_report_set_known(j, "last_error",
                         failed ? apl_report_text(g->error) : NULL);
    apl_report_set_known(j, "last_error_id",
                         failed ? apl_report_id(g->error_id) : NULL);
    apl_report_set_known(j, "last_error_time",
                         failed ? apl_report_instant(g->failed_at) : NULL);
    report_next_try(j, g);
    json_object_set_new(j, "tenant", json_null()); /* configured.c knows it */
    json_object_set_new(j, "slow_start",
                        report_slow_start(apl_slow_start_of(copy, g)));
    json_object_set_new(j, "template", report_template(&g->template));
    json_object_set_new(j, "processes", json_array());
    json_object_set_new(j, "requests", json_array());
    return j;
}

/* How long ago did the spawner record the history? It does so every five
 * seconds. */
static json_t *spawner_age(const apl_header_t *h)
{
    uint64_t n = h->n_samples;

    return n > 0 ? apl_report_seconds(apl_since(
                       apl_now(), h->samples[(n - 1) % APL_SAMPLE_MAX].time))
                 : json_null();
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
    json_object_set_new(o, "spawner_age", spawner_age(h));
    return o;
}

/* ---- counters, history, events ---- */

static json_t *report_counters(const apl_counters_t *c)
{
    json_t *o = json_object();

    json_object_set_new(o, "requests", apl_report_number(c->requests));
    json_object_set_new(o, "waits", apl_report_number(c->waits));
    json_object_set_new(o, "handoffs", apl_report_number(c->handoffs));
    json_object_set_new(o, "queue_full", apl_report_number(c->queue_full));
    json_object_set_new(o, "queue_timeouts", apl_report_number(c->timeouts));
    json_object_set_new(o, "clients_gone", apl_report_number(c->gone));
    json_object_set_new(o, "spawned", apl_report_number(c->spawned));
    json_object_set_new(o, "start_failures", apl_report_number(c->failed));
    json_object_set_new(o, "died", apl_report_number(c->died));
    json_object_set_new(o, "refused", apl_report_number(c->refused));
    json_object_set_new(o, "evicted", apl_report_number(c->evicted));
    json_object_set_new(o, "idled", apl_report_number(c->idled));
    json_object_set_new(o, "retired", apl_report_number(c->retired));
    json_object_set_new(o, "restarts", apl_report_number(c->restarts));
    json_object_set_new(o, "child_deaths", apl_report_number(c->child_deaths));
    json_object_set_new(o, "repairs", apl_report_number(c->repairs));
    json_object_set_new(o, "hung", apl_report_number(c->hung));
    json_object_set_new(o, "unhung", apl_report_number(c->unhung));
    json_object_set_new(o, "killed", apl_report_number(c->killed));
    json_object_set_new(o, "unkillable", apl_report_number(c->unkillable));
    json_object_set_new(o, "served", apl_report_number(c->served));
    json_object_set_new(o, "app_seconds", json_real((double)c->app_time / 1e6));
    return o;
}

static json_t *between(const apl_sample_t *a, const apl_sample_t *b)
{
    double s = (double)apl_since(b->time, a->time) / 1e6;
    double took = (double)(b->app_time - a->app_time) / 1e6;
    uint64_t served = b->served - a->served;
    json_t *o = json_object();

    json_object_set_new(o, "time", apl_report_instant(b->time));
    json_object_set_new(o, "seconds", json_real(s));
    json_object_set_new(o, "rate",
                        json_real((double)(b->requests - a->requests) / s));
    json_object_set_new(o, "latency",
                        served > 0 ? json_real(took / (double)served)
                                   : json_null());
    json_object_set_new(o, "queue", json_integer(b->waiting));
    json_object_set_new(o, "busy", json_integer(b->busy));
    return o;
}

json_t *apl_report_history(const apl_header_t *h)
{
    json_t *history = json_array();
    uint64_t n = h->n_samples < APL_SAMPLE_MAX ? h->n_samples : APL_SAMPLE_MAX;
    uint64_t i;

    for (i = 1; i < n; i++) {
        uint64_t at = h->n_samples - n + i;
        const apl_sample_t *b = &h->samples[at % APL_SAMPLE_MAX];
        const apl_sample_t *a = &h->samples[(at - 1) % APL_SAMPLE_MAX];

        /* Counters that went back are damage. */
        if (b->time > a->time && b->requests >= a->requests &&
            b->served >= a->served && b->app_time >= a->app_time)
            json_array_append_new(history, between(a, b));
    }
    return history;
}

static const char *const event_words[] = {
    [APL_EVENT_NONE] = "none",
    [APL_EVENT_READY] = "ready",
    [APL_EVENT_START_FAILED] = "start_failed",
    [APL_EVENT_DIED] = "died",
    [APL_EVENT_EXITED] = "exited",
    [APL_EVENT_IDLE] = "idle",
    [APL_EVENT_EVICTED] = "evicted",
    [APL_EVENT_RETIRED] = "retired",
    [APL_EVENT_RESTART] = "restart",
    [APL_EVENT_REFUSED] = "refused",
    [APL_EVENT_DETACHED] = "detached",
    [APL_EVENT_TRIMMED] = "trimmed",
    [APL_EVENT_REMOVED] = "removed",
    [APL_EVENT_CHILD_DIED] = "child_died",
    [APL_EVENT_REPAIRED] = "repaired",
    [APL_EVENT_HUNG] = "hung",
    [APL_EVENT_UNHUNG] = "unhung",
    [APL_EVENT_KILLED] = "killed",
    [APL_EVENT_UNKILLABLE] = "unkillable",
    [APL_EVENT_DRAINED] = "drained",
};
_Static_assert(sizeof event_words / sizeof *event_words == APL_EVENTS,
               "each event has a word");

const char *apl_report_event(uint32_t kind)
{
    return kind < APL_EVENTS ? event_words[kind] : "unknown";
}

/* The events that the segment still has, oldest first. */
static json_t *report_events(const apl_header_t *h)
{
    json_t *a = json_array();
    uint64_t n = h->n_events < APL_EVENT_MAX ? h->n_events : APL_EVENT_MAX;
    uint64_t i;

    for (i = h->n_events - n; i < h->n_events; i++) {
        const apl_event_t *e = &h->events[i % APL_EVENT_MAX];
        json_t *o = json_object();

        json_object_set_new(o, "number", apl_report_number(i));
        json_object_set_new(o, "time", apl_report_instant(e->time));
        json_object_set_new(o, "app", apl_report_text(e->app));
        json_object_set_new(o, "event", json_string(apl_report_event(e->kind)));
        if (e->pid)
            json_object_set_new(o, "pid", json_integer(e->pid));
        if (e->id)
            json_object_set_new(o, "id", apl_report_id(e->id));
        if (e->reason[0])
            json_object_set_new(o, "reason", apl_report_text(e->reason));
        if (e->error_id)
            json_object_set_new(o, "error_id", apl_report_id(e->error_id));
        json_array_append_new(a, o);
    }
    return a;
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

static void add_number(json_t *owner, const char *key, uint32_t more)
{
    json_t *n = json_object_get(owner, key);

    json_integer_set(n, json_integer_value(n) + more);
}

/* Connections that hold no worker of httpd, of each process; to be freed. */
static uint32_t *count_suspended(const apl_pool_t *copy)
{
    uint32_t *all = calloc(copy->n.processes, sizeof *all), i;

    for (i = 1; all && i <= copy->header->top_session && i < copy->n.sessions;
         i++) {
        const apl_session_t *s = &copy->sessions[i];

        if (s->state == APL_SESSION_OPEN && s->child != 0 && s->suspended &&
            s->long_lived == APL_LONG_LIVED_CONNECTION &&
            s->process < copy->n.processes)
            all[s->process]++;
    }
    return all;
}

/* One pass over each slot array. by_group[i] is the object of group i; NULL: it
 * is not in the report. */
static void report_slots(const apl_pool_t *copy, json_t *pool,
                         json_t **by_group, int parts)
{
    const apl_header_t *h = copy->header;
    uint32_t i, n, *suspended = count_suspended(copy);
    apl_memory_use_t *memory = memory_of_all(copy, &n);

    for (i = 1; i <= h->top_process && i < copy->n.processes; i++) {
        const apl_process_t *p = &copy->processes[i];

        if (p->state == APL_PROCESS_FREE || p->group >= copy->n.groups ||
            copy->groups[p->group].state != APL_GROUP_USED)
            continue;
        count_state(pool, process_state(p));
        if (!by_group[p->group])
            continue;
        json_array_append_new(
            json_object_get(by_group[p->group], "processes"),
            report_process(&copy->groups[p->group], p,
                           suspended ? suspended[i] : 0,
                           apl_memory_use_of(memory, n, p->identity.pid)));
        add_number(by_group[p->group], "suspended",
                   suspended ? suspended[i] : 0);
        count_state(by_group[p->group], process_state(p));
    }
    free(memory);
    free(suspended);
    for (i = 1; i <= h->top_session && i < copy->n.sessions; i++) {
        const apl_session_t *s = &copy->sessions[i];

        if (s->state != APL_SESSION_FREE && s->group < copy->n.groups &&
            by_group[s->group])
            json_array_append_new(
                json_object_get(by_group[s->group], "requests"),
                report_request(copy, s, parts & APL_REPORT_QUERIES));
    }
}

json_t *apl_report_part(const apl_pool_t *copy, int parts, const char *only)
{
    const apl_header_t *h = copy->header;
    json_t *report = json_object(), *groups = json_array();
    json_t *pool = report_pool(h);
    json_t **by_group = calloc(copy->n.groups, sizeof *by_group);
    uint32_t i;

    for (i = 1; by_group && i <= h->top_group && i < copy->n.groups; i++)
        if (copy->groups[i].state == APL_GROUP_USED &&
            (!only || strcmp(copy->groups[i].name, only) == 0)) {
            by_group[i] = report_group(copy, &copy->groups[i], parts);
            json_array_append_new(groups, by_group[i]);
        }
    if (by_group)
        report_slots(copy, pool, by_group, parts);
    for (i = 1; by_group && i < copy->n.groups; i++)
        if (by_group[i])
            apl_report_use(by_group[i], copy, &copy->groups[i]);
    free(by_group);
    json_object_set_new(report, "version", json_integer(1));
    json_object_set_new(report, "pool", pool);
    json_object_set_new(report, "counters", report_counters(&h->counters));
    json_object_set_new(report, "groups", groups);
    json_object_set_new(report, "events", report_events(h));
    json_object_set_new(report, "events_folded",
                        apl_report_folded(json_object_get(report, "events")));
    json_object_set_new(report, "history", apl_report_history(h));
    return report;
}

json_t *apl_report_json(const apl_pool_t *copy, int parts)
{
    return apl_report_part(copy, parts, NULL);
}
