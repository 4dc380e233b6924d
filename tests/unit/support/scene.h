/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file scene.h
 * @brief A pool in anonymous memory, a scripted spawner and a forced clock.
 *
 *     s = scene_new(2);
 *     a = scene_app(s, "a");
 *     assert_int_equal(scene_get(s, &h, a), APR_SUCCESS); // spawns as needed
 *     scene_close(s, &h);
 *     scene_is(s, 1, 0); // count, active; and all invariants hold
 *     scene_end(s);
 *
 * After each verb of a scene, apl_check() runs, and no waiter may have been
 * overtaken.
 */
#ifndef APPPOOL_TESTS_UNIT_SUPPORT_SCENE_H
#define APPPOOL_TESTS_UNIT_SUPPORT_SCENE_H

/* cmocka.h needs these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* The order of these matters. */
#include <cmocka.h>

#include "shm/verbs/checkin.h"
#include "shm/verbs/checkout.h"
#include "shm/verbs/child.h"
#include "shm/verbs/configure.h"
#include "shm/verbs/housekeeping.h"
#include "shm/verbs/admin.h"
#include "shm/verbs/reconcile.h"
#include "shm/verbs/supervise.h"

#define SCENE_APPS 1100
#define SECOND     ((int64_t)1000000) /* us; as spawner/process/state.h has it */

static const apl_wire_t scene_wire = {APL_LISTEN_FD, APL_HTTP, 0, 1};

/** A process of this pid, started while there was no restart.txt. */
static inline apl_start_t scene_start(int32_t pid)
{
    return (apl_start_t){.identity = {pid, 0, 1},
                         .wire = scene_wire,
                         .stamp = APL_STAMP_NO_FILE};
}

typedef struct {
    apl_pool_t pool;
    int64_t now;       /**< us; moves only when a test says so */
    int32_t pid;       /**< the last pid that was given out */
    uint32_t made_for; /**< requests at a time of the next processes */
    const char *dir;   /**< of restart.txt, where they look; NULL: nowhere */
    apl_app_t apps[SCENE_APPS];
    char names[SCENE_APPS][16];
    int n_apps;
} scene_t;

/** A pool of at most max processes, in memory that children of this process
 * share; this process is its httpd child. */
scene_t *scene_new(uint32_t max);
/** Check once more, and free the scene; or only free it. */
void scene_end(scene_t *s);
void scene_drop(scene_t *s);

/** Add a child of httpd. This process plays its part, too. */
uint32_t scene_child(scene_t *s);

/** Play the part of this child from now on. */
void scene_be(scene_t *s, uint32_t child);

/** An app with default options; change them before its first use. */
apl_app_t *scene_app(scene_t *s, const char *name);

/** apl_checkout(), nothing more. */
apr_status_t scene_ask(scene_t *s, apl_session_ref_t *h, const apl_app_t *app);

/** Ask, and let the spawner work until the request has a result, or until
 * nothing is left to do: then APL_EWAIT. */
apr_status_t scene_get(scene_t *s, apl_session_ref_t *h, const apl_app_t *app);

/** n requests that get a process. */
void scene_busy(scene_t *s, const apl_app_t *app, apl_session_ref_t *h, int n);

/** n requests that have to wait. */
void scene_waiting(scene_t *s, const apl_app_t *app, apl_session_ref_t *w,
                   int n);

/** Poll n requests: this is the result of each. */
void scene_polls(scene_t *s, apl_session_ref_t *w, int n, apr_status_t rv);

apr_status_t scene_poll(scene_t *s, apl_session_ref_t *h);
void scene_close(scene_t *s, apl_session_ref_t *h);

/** Take the lock, and let the processes of an app have any number of requests
 * from now on: as many waiters are served as can be woken under one lock. */
const apl_group_t *scene_widen(scene_t *s, apl_app_t *app,
                               apl_lock_token_t *token);
void scene_refused(scene_t *s, apl_session_ref_t *h);

/** Take one order; 0: there is none. @return the process's id */
uint64_t scene_take(scene_t *s);
void scene_ready(scene_t *s, uint64_t id);
void scene_failed(scene_t *s, uint64_t id);

/** Take all orders and make their processes ready. @return how many */
int scene_spawn(scene_t *s);

/** End the processes that leave and have no session. @return how many */
int scene_reap(scene_t *s);

/** The apps close the connections of all abandoned requests. There is no
 * check after it, because others may be inside. */
void scene_hang_up(scene_t *s);

/** The clock moves, then the tick runs. @return when the next is due */
int64_t scene_tick(scene_t *s, int64_t us);

/** Rebuild everything from the slots. It does not count as a repair. */
void scene_repair(scene_t *s);

const apl_group_t *scene_group(scene_t *s, const apl_app_t *app);
apl_process_t *scene_process(const scene_t *s, uint64_t id);

/** What the segment says about a process. FREE: there is no such process. */
apl_condition_t scene_condition(const scene_t *s, uint64_t id);

/** count and active are these, and all invariants hold. */
#define scene_is(s, n_live, n_busy)                                            \
    do {                                                                       \
        scene_ok(s);                                                           \
        assert_int_equal((s)->pool.header->count, n_live);                     \
        assert_int_equal((s)->pool.header->active, n_busy);                    \
    } while (0)

#define scene_ok(s) scene_check(s, __FILE__, __LINE__)
void scene_check(scene_t *s, const char *file, int line);

/** A waiting session that was overtaken: a later session of its group has a
 * process. 0: no session was */
uint32_t scene_overtaken(const apl_pool_t *pool);

#endif
