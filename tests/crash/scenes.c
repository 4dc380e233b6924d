/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/crash/scenes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "shm/enter.h"
#include "shm/group.h"

/* Small, so that each image of it is soon compared. */
static const apl_capacity_t capacity = {4, 10, 16, 3};

void stage_reset(stage_t *g)
{
    static const char *const names[] = {"a", "b", "c"};
    void *memory = g->pool.base;
    int i;

    g->size = apl_segment_size(&capacity);
    if (!memory)
        memory = mmap(NULL, g->size, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    memset(memory, 0, g->size);
    apl_segment_format(&g->pool, memory, &capacity);
    apl_supervise_limits(&g->pool, 4, 1, SCENE_NOW);
    apl_child_register(&g->pool, 1);
    apl_child_register(&g->pool, 1);
    apl_supervise_child(&g->pool, 2, &g->watch);
    g->pool.self = 1;
    for (i = 0; i < 3; i++) {
        g->apps[i].name = names[i];
        g->apps[i].root = "/";
        g->apps[i].key = apl_group_key(names[i]);
        g->apps[i].options = (apl_options_t){.config = 1,
                                             .concurrency = 1,
                                             .global_queue = 1,
                                             .max_queue = 10,
                                             .idle_time = 1000};
    }
    memset(g->holds, 0, sizeof g->holds);
}

/* ---- building pools ---- */

static apr_status_t ask(stage_t *g, int hold, int app)
{
    return apl_checkout(&g->pool, &g->holds[hold], &g->apps[app], NULL, NULL,
                        SCENE_NOW);
}

static uint64_t take(stage_t *g, int i)
{
    apl_order_t order;

    if (apl_supervise_take(&g->pool, (uint64_t)(i + 1) << 32, SCENE_NOW,
                           &order) != APR_SUCCESS)
        abort();
    return g->ids[i] = order.id;
}

/* Process i of an app, with a request that has it. */
static void busy(stage_t *g, int i, int app)
{
    if (ask(g, i, app) == APL_EWAIT)
        apl_supervise_ready(&g->pool, take(g, i), SCENE_NOW);
    if (apl_checkout_poll(&g->pool, &g->holds[i], SCENE_NOW) != APR_SUCCESS)
        abort();
    g->ids[i] = g->holds[i].id;
}

static void idle(stage_t *g, int i)
{
    apl_checkin(&g->pool, &g->holds[i], SCENE_NOW + i);
}

static void nothing(stage_t *g)
{
    (void)g;
}

static void one_idle(stage_t *g)
{
    busy(g, 0, 0);
    idle(g, 0);
}

/* Slots that were used; of one, a request is open yet. */
static void two_died(stage_t *g)
{
    busy(g, 0, 0);
    busy(g, 1, 0);
    idle(g, 0);
    apl_supervise_gone(&g->pool, g->ids[0], SCENE_NOW + 5000000);
    apl_supervise_gone(&g->pool, g->ids[1], SCENE_NOW + 5000000);
}

static void one_busy(stage_t *g)
{
    busy(g, 0, 0);
}

static void full_and_waiting(stage_t *g)
{
    int i;

    for (i = 0; i < 4; i++)
        busy(g, i, i / 2);
    ask(g, 4, 0);
    ask(g, 5, 2);
    ask(g, 6, 1);
}

static void full_with_idle(stage_t *g)
{
    int i;

    for (i = 0; i < 4; i++)
        busy(g, i, i / 2);
    idle(g, 1);
    idle(g, 3);
}

static void due_to_retire(stage_t *g)
{
    g->apps[0].options.max_requests = 1;
    busy(g, 0, 0);
    ask(g, 1, 0);
    ask(g, 2, 0);
}

static void shared(stage_t *g)
{
    int i;

    g->apps[0].options.concurrency = 3;
    for (i = 0; i < 3; i++)
        busy(g, i, 0);
    busy(g, 3, 0);
    ask(g, 4, 0);
}

static void ordered(stage_t *g)
{
    ask(g, 0, 0);
    ask(g, 1, 0);
}

static void booting(stage_t *g)
{
    ordered(g);
    take(g, 0);
}

static void leaving(stage_t *g)
{
    busy(g, 0, 0);
    busy(g, 1, 0);
    apl_supervise_detach(&g->pool, g->ids[0], APL_EVENT_DETACHED, SCENE_NOW);
    idle(g, 0);
}

static void of_two_children(stage_t *g)
{
    busy(g, 0, 0);
    g->pool.self = 2;
    busy(g, 1, 0);
    g->apps[0].options.max_instances = 2;
    g->apps[0].options.config = 2;
    ask(g, 2, 0);
    g->pool.self = 1;
    ask(g, 3, 0);
}

static void about_to_restart(stage_t *g)
{
    busy(g, 0, 0);
    busy(g, 1, 0);
    idle(g, 1);
    g->pool.groups[1].stamp_seq = 1;
    memset(&g->look, 0, sizeof g->look);
    g->look.seq = 1;
    g->look.stamp.exists = 1;
    g->look.stamp.mtime_ns = 77;
}

static void about_to_roll(stage_t *g)
{
    about_to_restart(g);
    g->pool.groups[1].options.rolling = 1;
    g->apps[0].options.rolling = 1;
}

/* Two are outdated, a third one boots that is to replace one of them. */
static void rolling(stage_t *g)
{
    full_with_idle(g);
    apl_supervise_restart(&g->pool, "a", 1, SCENE_NOW);
    take(g, 0);
}

static void torn(stage_t *g)
{
    full_and_waiting(g);
    g->pool.header->damaged = 1;
}

/* ---- verbs ---- */

static void checkout(stage_t *g)
{
    ask(g, 15, 0);
}

static void checkout_new(stage_t *g)
{
    ask(g, 15, 2);
}

static void checkin(stage_t *g)
{
    apl_checkin(&g->pool, &g->holds[0], SCENE_NOW + 9);
}

static void cancel(stage_t *g)
{
    apl_checkin(&g->pool, &g->holds[5], SCENE_NOW + 9);
}

static void refused(stage_t *g)
{
    apl_checkout_refused(&g->pool, &g->holds[0], SCENE_NOW + 9);
}

static void checkout_restart(stage_t *g)
{
    apl_checkout(&g->pool, &g->holds[15], &g->apps[0], NULL, &g->look,
                 SCENE_NOW + 9);
}

static void restart(stage_t *g)
{
    apl_supervise_restart(&g->pool, "a", 0, SCENE_NOW + 9);
}

static void roll(stage_t *g)
{
    apl_supervise_restart(&g->pool, "a", 1, SCENE_NOW + 9);
}

static void outdate(stage_t *g)
{
    apl_supervise_outdate(&g->pool, g->ids[0], SCENE_NOW + 9);
}

static void supervise_take(stage_t *g)
{
    take(g, 9);
}

static void born(stage_t *g)
{
    apl_who_t who = {99, 0, 7};

    apl_supervise_born(&g->pool, g->ids[0], who, APL_LISTEN_TCP, 8000,
                       SCENE_NOW + 9);
}

static void ready(stage_t *g)
{
    apl_supervise_ready(&g->pool, g->ids[0], SCENE_NOW + 9);
}

static void failed(stage_t *g)
{
    apl_supervise_failed(&g->pool, g->ids[0], 1, "no", SCENE_NOW + 9);
}

static void gone(stage_t *g)
{
    apl_supervise_gone(&g->pool, g->ids[0], SCENE_NOW + 5000000);
}

static void detach(stage_t *g)
{
    apl_supervise_detach(&g->pool, g->ids[0], APL_EVENT_DETACHED,
                         SCENE_NOW + 9);
}

static void child_gone(stage_t *g)
{
    apl_supervise_child_gone(&g->pool, &g->watch, SCENE_NOW + 9);
}

static void register_child(stage_t *g)
{
    apl_child_register(&g->pool, 1);
}

static void raise_limit(stage_t *g)
{
    apl_supervise_limits(&g->pool, 6, 2, SCENE_NOW + 9);
}

static void configure(stage_t *g)
{
    g->apps[0].options.config = 7;
    g->apps[0].options.concurrency = 2;
    apl_supervise_configure(&g->pool, &g->apps[0], 0, SCENE_NOW + 9);
}

static void remove_app(stage_t *g)
{
    apl_supervise_remove(&g->pool, "a", SCENE_NOW + 9);
}

static void adopt(stage_t *g)
{
    apl_who_t who = {99, 0, 7};

    apl_supervise_adopt(&g->pool, 0x7770000000000008, who, "a", APL_LISTEN_FD,
                        0, 1, SCENE_NOW + 9);
}

static void tick(stage_t *g)
{
    int64_t next;

    apl_supervise_tick(&g->pool, SCENE_NOW + 1000000, &next);
}

static void enter(stage_t *g)
{
    apl_held_t held;

    if (apl_enter(&held, &g->pool, SCENE_NOW + 9, APL_FOREVER) == APR_SUCCESS)
        apl_leave(&held);
}

const scene_t scenes[] = {
    {"checkout: of a new group", nothing, checkout, 1},
    {"checkout: an idle process", one_idle, checkout, 0},
    {"checkout: one more is started", one_busy, checkout, 0},
    {"checkout: one is started in a used slot", two_died, checkout, 0},
    {"checkout: waits in a full pool", full_and_waiting, checkout, 0},
    {"checkout: another group gives way", full_with_idle, checkout_new, 1},
    {"checkout: shares a process", shared, checkout, 0},
    {"checkout: restarts the group", about_to_restart, checkout_restart, 1},
    {"checkout: rolls the group", about_to_roll, checkout_restart, 1},
    {"checkin: nobody waits", one_busy, checkin, 0},
    {"checkin: to the next waiter", full_and_waiting, checkin, 0},
    {"checkin: the process retires", due_to_retire, checkin, 1},
    {"checkin: a shared process", shared, checkin, 0},
    {"checkin: of a process that leaves", of_two_children, checkin, 0},
    {"checkin: a waiter gives up", full_and_waiting, cancel, 0},
    {"refused", full_and_waiting, refused, 1},
    {"take an order", ordered, supervise_take, 0},
    {"born", booting, born, 1},
    {"ready", booting, ready, 0},
    {"ready: replaces an old one", rolling, ready, 1},
    {"start failed", booting, failed, 1},
    {"gone: a live one", full_and_waiting, gone, 1},
    {"gone: one that left", leaving, gone, 0},
    {"detach", full_and_waiting, detach, 1},
    {"restart: all at once", full_and_waiting, restart, 1},
    {"restart: rolling", full_and_waiting, roll, 1},
    {"restart: rolling, once more", rolling, roll, 1},
    {"outdate: a live one", full_with_idle, outdate, 1},
    {"outdate: a booting one", rolling, outdate, 1},
    {"child gone", of_two_children, child_gone, 1},
    {"child registers", nothing, register_child, 0},
    {"a higher limit", full_and_waiting, raise_limit, 1},
    {"options change", full_and_waiting, configure, 1},
    {"app removed", full_and_waiting, remove_app, 1},
    {"adopt", one_idle, adopt, 1},
    {"tick", full_with_idle, tick, 1},
    {"repair", torn, enter, 0},
};
const unsigned n_scenes = sizeof scenes / sizeof *scenes;
