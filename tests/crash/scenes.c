/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/crash/scenes.h"

#include <string.h>

#include "shm/slots/connection_state.h"
#include "shm/verbs/app_stderr.h"
#include "shm/verbs/group_start.h"
#include "shm/verbs/timeouts.h"
#include "shm/verbs/enter.h"
#include "shm/verbs/response.h"
#include "shm/verbs/step.h"

/* ---- verbs ---- */

static void checkout(stage_t *g)
{
    stage_ask(g, 15, 0);
}

static void checkout_new(stage_t *g)
{
    stage_ask(g, 15, 2);
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
    apl_checkin_refused(&g->pool, &g->holds[0], SCENE_NOW + 9);
}

static void checkout_restart(stage_t *g)
{
    apl_checkout(&g->pool, &g->holds[15], &g->apps[0], NULL, &g->look,
                 SCENE_NOW + 9);
}

static void restart(stage_t *g)
{
    apl_admin_restart(&g->pool, "a", 0, SCENE_NOW + 9);
}

static void drain(stage_t *g)
{
    apl_admin_drain(&g->pool, &g->apps[0], SCENE_NOW + 9);
}

static void start(stage_t *g)
{
    apl_admin_start(&g->pool, &g->apps[0], SCENE_NOW + 9);
}

static void roll(stage_t *g)
{
    apl_admin_restart(&g->pool, "a", 1, SCENE_NOW + 9);
}

static void outdate(stage_t *g)
{
    apl_supervise_outdate(&g->pool, g->ids[0], SCENE_NOW + 9);
}

static void supervise_take(stage_t *g)
{
    stage_take(g, 9);
}

static void born(stage_t *g)
{
    const apl_start_t start = {
        {99, 0, 7}, {APL_LISTEN_TCP, APL_HTTP, 8000, 1}, 77};

    apl_supervise_forked(&g->pool, g->ids[0], &start, SCENE_NOW + 9);
}

static void slow_start(stage_t *g)
{
    const apl_slow_start_t slow = {g->ids[0], SCENE_NOW, "it waits"};

    apl_slow_start_write(&g->pool, "a", &slow, SCENE_NOW + 9);
}

static void ready(stage_t *g)
{
    apl_supervise_ready(&g->pool, g->ids[0], SCENE_NOW + 9);
}

static void failed(stage_t *g)
{
    apl_supervise_failed(&g->pool, g->ids[0], 1, 1, "no", SCENE_NOW + 9);
}

static void last(stage_t *g)
{
    apl_checkin_last(&g->pool, &g->holds[0], SCENE_NOW + 9);
}

static void unanswered(stage_t *g)
{
    apl_checkin_unanswered(&g->pool, &g->holds[0], SCENE_NOW + 9);
}

static void gone_early(stage_t *g)
{
    apl_supervise_gone(&g->pool, g->ids[0], SCENE_NOW + 9);
}

static void exited(stage_t *g)
{
    apl_supervise_detach(&g->pool, g->ids[0], APL_EVENT_EXITED, SCENE_NOW + 9);
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
    apl_child_watch_gone(&g->pool, &g->watch, SCENE_NOW + 9);
}

static void register_child(stage_t *g)
{
    apl_child_register(&g->pool, 1);
}

/* ---- numbers ---- */

static const apl_response_t response = {502, APL_FAULT_DIED, 400, 3000};

static void respond(stage_t *g)
{
    apl_response_count(&g->pool, &g->apps[0], &response, SCENE_NOW + 9, 1);
}

static void look_at_steps(stage_t *g, int64_t now)
{
    static apl_step_use_t use[8];

    memset(use, 0, sizeof use);
    if (g->pool.n.groups <= sizeof use / sizeof *use)
        apl_step_sample(&g->pool, use, now);
}

static void step(stage_t *g)
{
    look_at_steps(g, SCENE_NOW + 9);
}

/* The next step is written over one that is there. */
static void stage_counted(stage_t *g)
{
    int i;

    stage_full_and_waiting(g);
    for (i = APL_STEPS; i > 0; i--) {
        respond(g);
        look_at_steps(g, SCENE_NOW + 9 - i * (int64_t)APL_STEP_PERIOD);
    }
    respond(g);
}

static void raise_limit(stage_t *g)
{
    apl_configure_limits(&g->pool, 6, 2, SCENE_NOW + 9);
}

static void configure(stage_t *g)
{
    g->apps[0].options.config = 7;
    g->apps[0].options.concurrency = 2;
    apl_configure_group(&g->pool, &g->apps[0], 0, SCENE_NOW + 9);
}

static void remove_app(stage_t *g)
{
    apl_configure_remove(&g->pool, "a", SCENE_NOW + 9);
}

static void adopt(stage_t *g)
{
    const apl_start_t start = {{99, 0, 7}, {APL_LISTEN_FD, APL_HTTP, 0, 1}, 77};

    apl_reconcile_adopt(&g->pool, 0x7770000000000008, &start, "a", 1,
                        SCENE_NOW + 9);
}

static void tick(stage_t *g)
{
    int64_t next;

    apl_housekeeping_tick(&g->pool, SCENE_NOW + 1000000, &next);
}

static void enter(stage_t *g)
{
    apl_lock_token_t token;

    if (apl_enter(&token, &g->pool, SCENE_NOW + 9, APL_FOREVER) == APR_SUCCESS)
        apl_leave(&token);
}

static void leave(stage_t *g)
{
    apl_child_register(&g->pool, 1);
    apl_child_unregister(&g->pool);
}

static void stop(stage_t *g)
{
    apl_checkout_stop(&g->pool);
}

static void roll_call(stage_t *g)
{
    apl_child_watch_roll_call(&g->pool, SCENE_NOW + 9);
}

static void drained(stage_t *g)
{
    apl_supervise_may_end(&g->pool, g->ids[0], SCENE_NOW + 9);
}

static void confirm(stage_t *g)
{
    apl_lock_token_t token;

    if (apl_enter(&token, &g->pool, SCENE_NOW + 9, APL_FOREVER) != APR_SUCCESS)
        return;
    apl_child_confirm(&token);
    apl_leave(&token);
}

static void look(stage_t *g)
{
    apl_session_peek_t overdue;

    apl_timeouts_find(&g->pool, SCENE_NOW + 5000000, &overdue, 1);
}

static void end(stage_t *g)
{
    apl_timeouts_kill(&g->pool, g->ids[0], 0, SCENE_NOW + 5000000);
}

static void close_links(stage_t *g)
{
    apl_timeouts_close(&g->pool, g->ids[0], SCENE_NOW);
}

static void abandon(stage_t *g)
{
    apl_checkin_abandon(&g->pool, &g->holds[0], SCENE_NOW + 9);
}

static void ended(stage_t *g)
{
    apl_timeouts_end_abandoned(&g->pool, g->ids[0], 1, SCENE_NOW + 9);
}

static void unkillable(stage_t *g)
{
    apl_timeouts_mark_unkillable(&g->pool, g->ids[0], SCENE_NOW + 5000000);
}

/* As mod_apppool/backend/parked.c does. */
static void take_connection(stage_t *g)
{
    apl_connection_state_t c = apl_connection_state(&g->pool, &g->holds[0]);

    if (apl_connection_take(&c, apl_connection_is_alone(&c), 1, SCENE_NOW) ==
        APL_CONNECTION_BUSY)
        apl_connection_forget(&c);
}

static void park_connection(stage_t *g)
{
    stage_park(g, SCENE_NOW);
}

static void give_connection_back(stage_t *g)
{
    apl_connection_state_t c = apl_connection_state(&g->pool, &g->holds[0]);

    if (apl_connection_take(&c, 1, 1, SCENE_NOW) == APL_CONNECTION_IDLE)
        apl_connection_release(&c, SCENE_NOW + 9);
}

static void cut_connection(stage_t *g)
{
    apl_connection_state_t c = apl_connection_state(&g->pool, &g->holds[0]);

    if (apl_connection_take(&c, 1, 0, SCENE_NOW) == APL_CONNECTION_BUSY)
        apl_connection_forget(&c);
}

static void put_lines(stage_t *g)
{
    apl_app_stderr_put(&g->pool, g->ids[0], 0, "it is broken\n", 13,
                       SCENE_NOW + 9);
}

static void take_lines(stage_t *g)
{
    apl_stderr_t lines;

    put_lines(g);
    apl_app_stderr_take(&g->pool, &lines, SCENE_NOW + 9);
}

const scene_t scenes[] = {
    {"checkout: of a new group", stage_nothing, checkout, 1},
    {"checkout: an idle process", stage_one_idle, checkout, 0},
    {"checkout: one more is started", stage_one_busy, checkout, 0},
    {"checkout: one is started in a used slot", stage_two_died, checkout, 0},
    {"checkout: waits in a full pool", stage_full_and_waiting, checkout, 0},
    {"checkout: another group gives way", stage_full_with_idle, checkout_new,
     1},
    {"checkout: one above the limit gives way", stage_one_above, checkout_new,
     1},
    {"checkout: shares a process", stage_shared, checkout, 0},
    {"checkout: restarts the group", stage_about_to_restart, checkout_restart,
     1},
    {"checkout: rolls the group", stage_about_to_roll, checkout_restart, 1},
    {"checkin: nobody waits", stage_one_busy, checkin, 0},
    {"checkin: to the next waiter", stage_full_and_waiting, checkin, 0},
    {"checkin: the process retires", stage_due_to_retire, checkin, 1},
    {"checkin: the process is to be replaced", stage_due_to_be_replaced,
     checkin, 1},
    {"checkin: the process retires, its replacement boots",
     stage_due_to_retire_and_replaced, checkin, 1},
    {"checkin: a shared process", stage_shared, checkin, 0},
    {"checkin: of a process that leaves", stage_of_two_children, checkin, 0},
    {"checkin: a waiter gives up", stage_full_and_waiting, cancel, 0},
    {"refused", stage_full_and_waiting, refused, 1},
    {"refused: early, once more", stage_ended_early, refused, 1},
    {"checkin: and the process ends", stage_full_and_waiting, last, 1},
    {"checkin: without a response", stage_full_and_waiting, unanswered, 0},
    {"checkin: after an early end", stage_ended_early, checkin, 1},
    {"checkin: a trial is over", stage_on_trial, checkin, 1},
    {"take an order", stage_ordered, supervise_take, 0},
    {"born", stage_booting, born, 1},
    {"slow start", stage_booting, slow_start, 1},
    {"ready", stage_booting, ready, 0},
    {"ready: replaces an old one", stage_rolling, ready, 1},
    {"start failed", stage_booting, failed, 1},
    {"gone: a live one", stage_full_and_waiting, gone, 1},
    {"gone: one that left", stage_leaving, gone, 0},
    {"gone: early, once more", stage_ended_early, gone_early, 1},
    {"gone: one on trial", stage_on_trial, gone_early, 1},
    {"ready: on trial", stage_try_boots, ready, 0},
    {"exited: early, once more", stage_ended_early, exited, 1},
    {"tick: a trial is over", stage_on_trial, tick, 1},
    {"drained", stage_leaving, drained, 0},
    {"detach", stage_full_and_waiting, detach, 1},
    {"restart: all at once", stage_full_and_waiting, restart, 1},
    {"restart: rolling", stage_full_and_waiting, roll, 1},
    {"restart: rolling, once more", stage_rolling, roll, 1},
    {"restart: of one that is drained", stage_drained, restart, 1},
    {"start: one that nobody has asked for", stage_nothing, start, 1},
    {"drain", stage_full_and_waiting, drain, 2},
    {"drain: one that boots", stage_booting, drain, 2},
    {"drain: one that nobody has asked for", stage_nothing, drain, 1},
    {"outdate: a live one", stage_full_with_idle, outdate, 1},
    {"outdate: a booting one", stage_rolling, outdate, 1},
    {"child gone", stage_of_two_children, child_gone, 1},
    {"child gone: found by the roll", stage_child_died, roll_call, 1},
    {"child registers", stage_nothing, register_child, 0},
    {"child registers and leaves", stage_nothing, leave, 1},
    {"child registers again", stage_slot_lost, confirm, 1},
    {"child stops", stage_full_and_waiting, stop, 1},
    {"a higher limit", stage_full_and_waiting, raise_limit, 1},
    {"a higher limit, and a template", stage_full_and_forking, raise_limit, 1},
    {"options change", stage_full_and_waiting, configure, 1},
    {"app removed", stage_full_and_waiting, remove_app, 1},
    {"adopt", stage_one_idle, adopt, 1},
    {"lines for a log", stage_one_busy, put_lines, 1},
    {"lines for a log are taken", stage_one_busy, take_lines, 1},
    {"clock: one hangs", stage_overdue, look, 1},
    {"checkin: of one that hung", stage_hung, checkin, 1},
    {"kill", stage_hung, end, 1},
    {"kill: one that leaves", stage_leaving_slowly, end, 1},
    {"close", stage_leaving_linked, close_links, 1},
    {"abandon", stage_one_busy, abandon, 0},
    {"abandon: what would have lasted", stage_one_linked, abandon, 0},
    {"abandon: of a process that leaves", stage_leaving_slowly, abandon, 0},
    {"abandon: gives way to another group", stage_full_and_waiting, abandon, 1},
    {"abandoned: it ended", stage_abandoned, ended, 0},
    {"abandoned: the process is gone", stage_abandoned, gone, 1},
    {"abandoned: the process is killed", stage_abandoned, end, 1},
    {"unkillable", stage_killed, unkillable, 1},
    {"response: counted", stage_counted, respond, 0},
    {"response: of an app that nobody has asked for", stage_nothing, respond,
     0},
    {"step", stage_counted, step, 0},
    {"tick", stage_full_with_idle, tick, 1},
    {"repair", stage_torn, enter, 0},
    {"connection: it is parked", stage_one_busy, park_connection, 1},
    {"connection: it is taken", stage_parked, take_connection, 0},
    {"connection: it is taken and given back", stage_parked,
     give_connection_back, 1},
    {"connection: it is cut", stage_parked, cut_connection, 1},
    {"connection: that of a killed child is cut", stage_parked_and_killed,
     take_connection, 0},
    {"connection: of a process that leaves", stage_parked_and_leaving,
     take_connection, 1},
};
const unsigned n_scenes = sizeof scenes / sizeof *scenes;
