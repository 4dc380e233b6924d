/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/view/report_statistics.h"

#include "shm/view/report_times.h"
#include "shm/view/report_value.h"

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

json_t *apl_report_counters(const apl_counters_t *c)
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

json_t *apl_report_events(const apl_header_t *h)
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
