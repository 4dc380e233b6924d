/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file stage.h
 * @brief Pools in shared memory in which a verb of the crash tests has
 *        something to do.
 */
#ifndef APPPOOL_TESTS_CRASH_STAGE_H
#define APPPOOL_TESTS_CRASH_STAGE_H

#include "shm/verbs/checkin.h"
#include "shm/verbs/checkout.h"
#include "shm/verbs/child.h"
#include "shm/verbs/configure.h"
#include "shm/verbs/housekeeping.h"
#include "shm/verbs/admin.h"
#include "shm/verbs/reconcile.h"
#include "shm/verbs/supervise.h"

#define SCENE_NOW 1000000000ll

/** A pool, and what a verb needs to find in it. */
typedef struct {
    apl_pool_t pool;
    apl_app_t apps[3];
    apl_session_ref_t holds[16];
    uint64_t ids[16];
    apl_child_watch_t watch; /**< of the second child */
    apl_restart_seen_t look; /**< a restart.txt that is newer */
    size_t size;
} stage_t;

/** Small, so that the images are compared quickly. */
extern const apl_capacity_t stage_capacity;

/** An empty pool; the same memory each time. */
void stage_reset(stage_t *g);

/** Ask for a process of an app; the hold to use. */
apr_status_t stage_ask(stage_t *g, int hold, int app);

/** Process i of an app, with a request that has it. */
void stage_busy(stage_t *g, int i, int app);

/** Take an order as the spawner does. @return the process's id, which is also
 * kept in ids[i] */
uint64_t stage_take(stage_t *g, int i);

/** The request of holds[0] parks its connection. */
void stage_park(stage_t *g, int64_t now);

/* Bring an empty pool into one of these states. */
void stage_nothing(stage_t *g);
void stage_one_idle(stage_t *g);
void stage_two_died(stage_t *g);
void stage_one_busy(stage_t *g);
void stage_ended_early(stage_t *g);
void stage_try_boots(stage_t *g);
void stage_on_trial(stage_t *g);
void stage_one_linked(stage_t *g);
void stage_full_and_waiting(stage_t *g);
void stage_full_and_forking(stage_t *g);
void stage_full_with_idle(stage_t *g);
void stage_due_to_retire(stage_t *g);
void stage_due_to_be_replaced(stage_t *g);
void stage_due_to_retire_and_replaced(stage_t *g);
void stage_shared(stage_t *g);
void stage_ordered(stage_t *g);
void stage_booting(stage_t *g);
void stage_leaving(stage_t *g);
void stage_leaving_slowly(stage_t *g);
void stage_leaving_linked(stage_t *g);
void stage_overdue(stage_t *g);
void stage_hung(stage_t *g);
void stage_one_above(stage_t *g);
void stage_killed(stage_t *g);
void stage_abandoned(stage_t *g);
void stage_of_two_children(stage_t *g);
void stage_about_to_restart(stage_t *g);
void stage_about_to_roll(stage_t *g);
void stage_rolling(stage_t *g);
void stage_drained(stage_t *g);
void stage_torn(stage_t *g);
void stage_child_died(stage_t *g);
void stage_slot_lost(stage_t *g);
void stage_parked(stage_t *g);
void stage_parked_and_killed(stage_t *g);
void stage_parked_and_leaving(stage_t *g);

#endif
