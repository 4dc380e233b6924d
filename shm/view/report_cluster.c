/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/view/report_cluster.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "shm/view/report_value.h"

#define READY   10 /* s: the store says each second that it is ready */

#define ADDRESS sizeof((store_cluster_figures_t *)0)->vip

static uint64_t load(const uint64_t *n)
{
    return __atomic_load_n(n, __ATOMIC_RELAXED);
}

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
