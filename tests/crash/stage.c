/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/crash/stage.h"

#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>

#include "shm/slots/connection_state.h"
#include "shm/verbs/group_start.h"
#include "shm/verbs/timeouts.h"
#include "shm/verbs/enter.h"
#include "shm/slots/group.h"
#include "shm/format/segment.h"

const apl_capacity_t stage_capacity = {4, 10, 16, 3};

void stage_reset(stage_t *g)
{
    static const char *const names[] = {"a", "b", "c"};
    int i, file;

    if (!g->pool.base &&
        apl_segment_create(&g->pool, &stage_capacity) != APR_SUCCESS)
        abort();
    file = g->pool.file;
    g->size = g->pool.size;
    memset(g->pool.base, 0, g->size);
    apl_segment_format(&g->pool, g->pool.base, &stage_capacity);
    g->pool.file = file;
    apl_configure_limits(&g->pool, 4, 1, SCENE_NOW);
    apl_child_register(&g->pool, 1);
    apl_child_register(&g->pool, 1);
    apl_child_watch_at(&g->pool, 2, &g->watch);
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

apr_status_t stage_ask(stage_t *g, int hold, int app)
{
    return apl_checkout(&g->pool, &g->holds[hold], &g->apps[app], NULL, NULL,
                        SCENE_NOW);
}

uint64_t stage_take(stage_t *g, int i)
{
    apl_order_t order;

    if (apl_supervise_next_order(&g->pool, (uint64_t)(i + 1) << 32, SCENE_NOW,
                                 &order) != APR_SUCCESS)
        abort();
    return g->ids[i] = order.id;
}

void stage_busy(stage_t *g, int i, int app)
{
    if (stage_ask(g, i, app) == APL_EWAIT)
        apl_supervise_ready(&g->pool, stage_take(g, i), SCENE_NOW);
    if (apl_checkout_poll(&g->pool, &g->holds[i], SCENE_NOW) != APR_SUCCESS)
        abort();
    g->ids[i] = g->holds[i].id;
}

static void idle(stage_t *g, int i)
{
    apl_checkin(&g->pool, &g->holds[i], SCENE_NOW + i);
}

void stage_nothing(stage_t *g)
{
    (void)g;
}

void stage_one_idle(stage_t *g)
{
    stage_busy(g, 0, 0);
    idle(g, 0);
}

/* Slots that were used. One of them still has an open request. */
void stage_two_died(stage_t *g)
{
    stage_busy(g, 0, 0);
    stage_busy(g, 1, 0);
    idle(g, 0);
    apl_supervise_gone(&g->pool, g->ids[0], SCENE_NOW + 5000000);
    apl_supervise_gone(&g->pool, g->ids[1], SCENE_NOW + 5000000);
}

void stage_one_busy(stage_t *g)
{
    stage_busy(g, 0, 0);
}

void stage_one_linked(stage_t *g)
{
    stage_busy(g, 0, 0);
    apl_checkout_set_long_lived(&g->pool, &g->holds[0],
                                APL_LONG_LIVED_CONNECTION);
}

void stage_full_and_waiting(stage_t *g)
{
    int i;

    for (i = 0; i < 4; i++)
        stage_busy(g, i, i / 2);
    stage_ask(g, 4, 0);
    stage_ask(g, 5, 2);
    stage_ask(g, 6, 1);
}

/* Several processes are started when there is room. */
void stage_full_and_forking(stage_t *g)
{
    static const apl_template_t ready = {.state = APL_TEMPLATE_READY};

    stage_full_and_waiting(g);
    stage_ask(g, 7, 0);
    apl_template_write(&g->pool, g->apps[0].name, &ready);
}

void stage_full_with_idle(stage_t *g)
{
    int i;

    for (i = 0; i < 4; i++)
        stage_busy(g, i, i / 2);
    idle(g, 1);
    idle(g, 3);
}

void stage_due_to_retire(stage_t *g)
{
    g->apps[0].options.max_requests = 1;
    stage_busy(g, 0, 0);
    stage_ask(g, 1, 0);
    stage_ask(g, 2, 0);
}

/* When this request is closed, the process has had nine of ten requests. */
void stage_due_to_be_replaced(stage_t *g)
{
    g->apps[0].options.max_requests = 10;
    stage_busy(g, 0, 0);
    g->pool.processes[1].processed = 8;
}

/* Its replacement came too late. */
void stage_due_to_retire_and_replaced(stage_t *g)
{
    stage_due_to_be_replaced(g);
    idle(g, 0);
    stage_ask(g, 0, 0);
}

void stage_shared(stage_t *g)
{
    int i;

    g->apps[0].options.concurrency = 3;
    for (i = 0; i < 3; i++)
        stage_busy(g, i, 0);
    stage_busy(g, 3, 0);
    stage_ask(g, 4, 0);
}

void stage_ordered(stage_t *g)
{
    stage_ask(g, 0, 0);
    stage_ask(g, 1, 0);
}

void stage_booting(stage_t *g)
{
    stage_ordered(g);
    stage_take(g, 0);
}

void stage_leaving(stage_t *g)
{
    stage_busy(g, 0, 0);
    stage_busy(g, 1, 0);
    apl_supervise_detach(&g->pool, g->ids[0], APL_EVENT_DETACHED, SCENE_NOW);
    idle(g, 0);
}

void stage_leaving_slowly(stage_t *g)
{
    stage_busy(g, 0, 0);
    apl_supervise_detach(&g->pool, g->ids[0], APL_EVENT_DETACHED, SCENE_NOW);
}

void stage_leaving_linked(stage_t *g)
{
    stage_leaving_slowly(g);
    apl_checkout_set_long_lived(&g->pool, &g->holds[0],
                                APL_LONG_LIVED_CONNECTION);
}

/* All requests take too long. One more waits, and another one is long-lived. */
void stage_overdue(stage_t *g)
{
    apl_options_t *o = &g->apps[0].options;

    o->hung_after = 5000000;
    o->kill_after = 5000000;
    o->spawn_if_under = 2;
    o->hung_extra = 1;
    stage_full_and_waiting(g);
    apl_checkout_set_long_lived(&g->pool, &g->holds[1],
                                APL_LONG_LIVED_RESPONSE);
}

void stage_hung(stage_t *g)
{
    apl_session_peek_t overdue;

    stage_overdue(g);
    apl_timeouts_find(&g->pool, SCENE_NOW + 5000000, &overdue, 1);
}

/* One hangs, and there is an idle one above the limit. */
void stage_one_above(stage_t *g)
{
    apl_options_t *o = &g->apps[0].options;
    apl_session_peek_t overdue;
    int i;

    o->hung_after = 5000000;
    o->spawn_if_under = 1;
    o->hung_extra = 1;
    for (i = 1; i < 5; i++)
        stage_busy(g, i, i / 3);
    apl_timeouts_find(&g->pool, SCENE_NOW + 5000000, &overdue, 1);
    stage_busy(g, 0, 0);
    idle(g, 0);
}

void stage_killed(stage_t *g)
{
    stage_hung(g);
    apl_timeouts_kill(&g->pool, g->ids[0], 0, SCENE_NOW + 5000000);
}

void stage_abandoned(stage_t *g)
{
    int i;

    for (i = 0; i < 4; i++)
        stage_busy(g, i, i / 2);
    stage_ask(g, 4, 0);
    apl_checkin_abandon(&g->pool, &g->holds[0], SCENE_NOW);
}

void stage_of_two_children(stage_t *g)
{
    stage_busy(g, 0, 0);
    g->pool.self = 2;
    stage_busy(g, 1, 0);
    g->apps[0].options.max_instances = 2;
    g->apps[0].options.config = 2;
    stage_ask(g, 2, 0);
    g->pool.self = 1;
    stage_ask(g, 3, 0);
}

void stage_about_to_restart(stage_t *g)
{
    stage_busy(g, 0, 0);
    stage_busy(g, 1, 0);
    idle(g, 1);
    g->pool.groups[1].stamp_seq = 1;
    g->pool.groups[1].stamp.file = APL_STAMP_NO_FILE;
    memset(&g->look, 0, sizeof g->look);
    g->look.seq = 1;
    g->look.stamp.file = 77;
}

void stage_about_to_roll(stage_t *g)
{
    stage_about_to_restart(g);
    g->pool.groups[1].options.rolling = 1;
    g->apps[0].options.rolling = 1;
}

/* Two processes are outdated, and a third one boots to replace one of them. */
void stage_rolling(stage_t *g)
{
    stage_full_with_idle(g);
    apl_admin_restart(&g->pool, "a", 1, SCENE_NOW);
    stage_take(g, 0);
}

void stage_drained(stage_t *g)
{
    stage_full_and_waiting(g);
    apl_admin_drain(&g->pool, &g->apps[0], SCENE_NOW);
}

void stage_torn(stage_t *g)
{
    stage_full_and_waiting(g);
    g->pool.header->lock = FUTEX_OWNER_DIED;
}

/* The second child is another process now, and the death of the first one was
 * not seen. */
void stage_child_died(stage_t *g)
{
    stage_of_two_children(g);
    g->pool.children[2].identity.start++;
    g->pool.header->roll_call = 1;
}

/* The child that acts was taken for dead, and its slot was given away. */
void stage_slot_lost(stage_t *g)
{
    apl_lock_token_t token;

    stage_one_idle(g);
    if (apl_enter(&token, &g->pool, SCENE_NOW, APL_FOREVER) != APR_SUCCESS)
        abort();
    apl_child_free(&token, &g->pool.children[1]);
    apl_leave(&token);
}

/* ---- a shared connection ---- */

void stage_park(stage_t *g, int64_t now)
{
    apl_connection_state_t c = apl_connection_state(&g->pool, &g->holds[0]);

    if (!apl_connection_begin_parking(&c) || !apl_connection_release(&c, now))
        abort();
}

/* Another child has parked it. The next request has the process, and has not
 * taken the connection yet. */
void stage_parked(stage_t *g)
{
    stage_busy(g, 0, 0);
    stage_park(g, SCENE_NOW);
    g->pool.processes[1].connection_child.pid++;
    idle(g, 0);
    stage_ask(g, 0, 0);
}

/* The last one was killed inside its request. */
void stage_parked_and_killed(stage_t *g)
{
    apl_connection_state_t c;

    stage_parked(g);
    c = apl_connection_state(&g->pool, &g->holds[0]);
    if (apl_connection_take(&c, 1, 1, SCENE_NOW) != APL_CONNECTION_IDLE)
        abort();
    c.process->connection_child.pid = 0;
}

void stage_parked_and_leaving(stage_t *g)
{
    stage_parked(g);
    apl_supervise_detach(&g->pool, g->ids[0], APL_EVENT_DETACHED, SCENE_NOW);
}
