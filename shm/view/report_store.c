/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/view/view.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "shm/lock/alive.h"

#define READY   10 /* s: the store says each second that it is ready */
#define ADDRESS sizeof((store_cluster_figures_t *)0)->vip

static uint64_t load(const uint64_t *n)
{
    return __atomic_load_n(n, __ATOMIC_RELAXED);
}

/* ---- counters ---- */

#define ALSO(what) (UINT64_C(1) << (what))

/* The sum of some counters of the workers. */
static const struct {
    const char *key;
    uint64_t of; /* bit n: counter n belongs to it */
} sums[] = {
    {"gets", ALSO(STORE_GETS)},
    {"hits", ALSO(STORE_HITS)},
    {"sets", ALSO(STORE_SETS)},
    {"deletes", ALSO(STORE_DELETE_HITS) | ALSO(STORE_DELETE_MISSES)},
    {"operations", ALSO(STORE_GETS) | ALSO(STORE_SETS) |
                       ALSO(STORE_DELETE_HITS) | ALSO(STORE_DELETE_MISSES) |
                       ALSO(STORE_INCR_HITS) | ALSO(STORE_INCR_MISSES) |
                       ALSO(STORE_DECR_HITS) | ALSO(STORE_DECR_MISSES) |
                       ALSO(STORE_TOUCH_HITS) | ALSO(STORE_TOUCH_MISSES) |
                       ALSO(STORE_FLUSHES)},
    {"flushes", ALSO(STORE_FLUSHES)},
    {"bytes_read", ALSO(STORE_BYTES_READ)},
    {"bytes_written", ALSO(STORE_BYTES_WRITTEN)},
    {"connections_total", ALSO(STORE_CONNECTIONS_TOTAL)},
    {"connections_refused", ALSO(STORE_CONNECTIONS_REFUSED)},
    {"too_large", ALSO(STORE_TOO_LARGE_COUNT)},
    {"out_of_memory", ALSO(STORE_NO_MEMORY_COUNT)},
    {"unconfirmed", ALSO(STORE_UNCONFIRMED)},
    {"not_confirmed", ALSO(STORE_NOT_CONFIRMED)},
};
_Static_assert(STORE_COUNTERS <= 64, "a bit for each");

static uint64_t sum(const store_figures_t *f, unsigned space, uint64_t of)
{
    uint64_t all = 0;
    unsigned w, c;

    for (w = 0; w < STORE_THREADS; w++)
        for (c = 0; c < STORE_COUNTERS; c++)
            if (of & ALSO(c))
                all += load(&f->worker[w][space].n[c]);
    return all;
}

/* JSON has no larger number. */
static json_t *number(uint64_t n)
{
    return apl_report_number(n < INT64_MAX ? n : INT64_MAX);
}

/* ---- a space ---- */

/* Copy the name of a space. @return 0: there is no space, or its name is
 * wrong */
static int name_of(const store_figures_t *f, unsigned space,
                   char name[STORE_NAME])
{
    const char *from = f->space[space].name;
    size_t i;

    for (i = 0; i < STORE_NAME; i++) {
        unsigned char c =
            (unsigned char)__atomic_load_n(&from[i], __ATOMIC_RELAXED);

        name[i] = (char)c;
        if (!c)
            return i > 0;
        if (c < 0x20 || c == 0x7f)
            return 0;
    }
    return 0;
}

/* A part of the gets found something. It is null if there was none. */
static json_t *hit_rate(uint64_t hits, uint64_t gets)
{
    if (gets == 0)
        return NULL;
    return json_real(hits < gets ? (double)hits / (double)gets : 1.0);
}

static json_t *report_space(const store_figures_t *f, unsigned space,
                            const char *name)
{
    const store_space_figures_t *s = &f->space[space];
    json_t *o = json_object();
    size_t i;

    json_object_set_new(o, "name", apl_report_text(name));
    json_object_set_new(o, "size", number(load(&s->size)));
    json_object_set_new(o, "used", number(load(&s->used)));
    json_object_set_new(o, "items", number(load(&s->items)));
    json_object_set_new(o, "item_bytes", number(load(&s->item_bytes)));
    apl_report_set_known(o, "hit_rate",
                         hit_rate(sum(f, space, ALSO(STORE_HITS)),
                                  sum(f, space, ALSO(STORE_GETS))));
    for (i = 0; i < sizeof sums / sizeof *sums; i++)
        json_object_set_new(o, sums[i].key, number(sum(f, space, sums[i].of)));
    json_object_set_new(o, "evictions", number(load(&s->evictions)));
    apl_report_set_known(o, "evicted_age",
                         load(&s->evictions) > 0 ? number(load(&s->evicted_age))
                                                 : NULL);
    json_object_set_new(o, "expired", number(load(&s->expired)));
    json_object_set_new(o, "reclaimed", number(load(&s->reclaimed)));
    json_object_set_new(o, "connections", number(load(&s->connections)));
    json_object_set_new(o, "max_connections",
                        number(load(&s->max_connections)));
    json_object_set_new(o, "recovered", number(load(&s->recovered)));
    json_object_set_new(o, "dropped", number(load(&s->dropped)));
    return o;
}

static json_t *report_spaces(const store_figures_t *f)
{
    json_t *spaces = json_array(), *known = json_object();
    char name[STORE_NAME];
    unsigned i;

    for (i = 0; i < STORE_SPACES; i++) {
        json_t *space;
        const char *text;

        if (!name_of(f, i, name))
            continue;
        space = report_space(f, i, name);
        text = json_string_value(json_object_get(space, "name"));
        if (text && !json_object_get(known, text)) {
            json_object_set_new(known, text, json_true());
            json_array_append(spaces, space);
        }
        json_decref(space);
    }
    json_decref(known);
    return spaces;
}

/* ---- other hosts ---- */

static json_t *yes(const uint64_t *n)
{
    return json_boolean(load(n) != 0);
}

/* "10.0.0.9", "[fe80::1%eth0]:11213" */
static int is_of_address(unsigned char c)
{
    return isalnum(c) || (c && strchr(".:[]%_-", c));
}

/* @return NULL: it is none */
static json_t *address(const char *from)
{
    char text[ADDRESS];
    size_t i;

    for (i = 0; i < sizeof text; i++) {
        unsigned char c =
            (unsigned char)__atomic_load_n(&from[i], __ATOMIC_RELAXED);

        text[i] = (char)c;
        if (!c)
            return i > 0 ? json_string(text) : NULL;
        if (c >= 0x80 || !is_of_address(c))
            return NULL;
    }
    return NULL;
}

static json_t *report_slave(const store_slave_figures_t *s)
{
    json_t *o = json_object();

    apl_report_set_known(o, "address", address(s->address));
    apl_report_set_known(o, "joined", apl_report_epoch(load(&s->joined)));
    json_object_set_new(o, "yrmcds", yes(&s->yrmcds));
    json_object_set_new(o, "complete", yes(&s->complete));
    json_object_set_new(o, "lag", apl_report_figure(&s->lag));
    json_object_set_new(o, "lag_seconds",
                        json_real((double)load(&s->lag_ms) / 1e3));
    json_object_set_new(o, "bytes_sent", apl_report_figure(&s->sent));
    return o;
}

static json_t *report_slaves(const store_cluster_figures_t *f)
{
    json_t *slaves = json_array();
    unsigned i;

    for (i = 0; i < STORE_FIGURES_SLAVES; i++)
        if (load(&f->slave[i].joined) != 0)
            json_array_append_new(slaves, report_slave(&f->slave[i]));
    return slaves;
}

static void set_master(json_t *o, const store_cluster_figures_t *f)
{
    json_object_set_new(o, "handover", yes(&f->pausing));
    json_object_set_new(o, "unsent_changes", apl_report_figure(&f->unsent));
    json_object_set_new(o, "slaves_dropped", apl_report_figure(&f->dropped));
    json_object_set_new(o, "slaves", report_slaves(f));
}

static void set_slave(json_t *o, const store_cluster_figures_t *f)
{
    uint64_t age = load(&f->age_ms);

    json_object_set_new(o, "connected", yes(&f->connected));
    json_object_set_new(o, "yrmcds", yes(&f->yrmcds));
    json_object_set_new(o, "changes_received", apl_report_figure(&f->received));
    json_object_set_new(o, "lag_seconds",
                        json_real((double)load(&f->lag_ms) / 1e3));
    json_object_set_new(o, "age_seconds",
                        age == 0 ? json_null()
                                 : json_real((double)(age - 1) / 1e3));
    json_object_set_new(o, "relayed", apl_report_figure(&f->relayed));
}

/* A store that has died or hangs does not say so itself. */
static int is_ready(const store_cluster_figures_t *f)
{
    uint64_t seen = load(&f->ready);
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return seen != 0 && (uint64_t)t.tv_sec < seen + READY && !load(&f->pausing);
}

/* A store that has died or hangs gives no other reason. */
static json_t *reason(const store_cluster_figures_t *f)
{
    uint64_t why = load(&f->why);

    return is_ready(f)
               ? json_null()
               : json_string(why == STORE_READY_PART     ? "incomplete"
                             : why == STORE_READY_BETTER ? "better elsewhere"
                             : why == STORE_READY_OLD    ? "stale"
                                                         : "other");
}

static void set_epoch(json_t *o, const store_cluster_figures_t *f)
{
    char id[24];

    snprintf(id, sizeof id, "%016llx", (unsigned long long)load(&f->epoch));
    json_object_set_new(o, "epoch",
                        load(&f->epoch) ? json_string(id) : json_null());
    json_object_set_new(o, "epoch_number", apl_report_figure(&f->epoch_number));
    json_object_set_new(o, "position", apl_report_figure(&f->position));
}

json_t *apl_report_cluster(const store_cluster_figures_t *f)
{
    uint64_t role = load(&f->role);
    json_t *o;

    if (role != STORE_MASTER && role != STORE_SLAVE)
        return json_null();
    o = json_object();
    json_object_set_new(o, "role",
                        json_string(role == STORE_MASTER ? "master" : "slave"));
    apl_report_set_known(o, "since", apl_report_epoch(load(&f->since)));
    apl_report_set_known(o, "virtual_ip", address(f->vip));
    json_object_set_new(o, "complete", yes(&f->complete));
    json_object_set_new(o, "ready", json_boolean(is_ready(f)));
    json_object_set_new(o, "reason", reason(f));
    set_epoch(o, f);
    if (role == STORE_MASTER)
        set_master(o, f);
    else
        set_slave(o, f);
    return o;
}

/* ---- the whole ---- */

/* Is there a process of this pid that has not ended? */
static int is_alive(uint64_t pid)
{
    return pid > 0 && pid <= INT32_MAX &&
           (kill((pid_t)pid, 0) == 0 || errno != ESRCH) &&
           !apl_alive_ending((int32_t)pid);
}

json_t *apl_report_store(const store_figures_t *f)
{
    json_t *o;

    if (!f ||
        __atomic_load_n(&f->magic, __ATOMIC_ACQUIRE) != STORE_FIGURES_MAGIC ||
        f->version != STORE_FIGURES_VERSION)
        return json_null();
    o = json_object();
    json_object_set_new(o, "pid", number(load(&f->pid)));
    json_object_set_new(o, "alive", json_boolean(is_alive(load(&f->pid))));
    apl_report_set_known(o, "started", apl_report_epoch(load(&f->began)));
    json_object_set_new(o, "recovery",
                        json_real((double)(load(&f->recovery_us)) / 1e6));
    json_object_set_new(o, "threads",
                        number(__atomic_load_n(&f->threads, __ATOMIC_RELAXED)));
    json_object_set_new(o, "missing_listeners",
                        number(load(&f->missing_listeners) +
                               load(&f->cluster.missing_listeners)));
    json_object_set_new(o, "cluster", apl_report_cluster(&f->cluster));
    json_object_set_new(o, "spaces", report_spaces(f));
    return o;
}
