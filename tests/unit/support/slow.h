/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file slow.h
 * @brief Apps whose requests take too long, and the clock. The tests check that
 *        processes are treated as the thread pool of Paste treats threads with
 *        such requests. A test whose name begins with p and a number checks
 *        that claim of tests/claims.md.
 */
#ifndef APPPOOL_TESTS_UNIT_SUPPORT_SLOW_H
#define APPPOOL_TESTS_UNIT_SUPPORT_SLOW_H

#include "shm/verbs/timeouts.h"
#include "tests/unit/support/scene.h"

#define LIMIT (30 * SECOND)

/** An app whose requests hang after 30 s. */
static inline apl_app_t *slow_app(scene_t *s, const char *name, uint32_t max,
                                  uint32_t under)
{
    apl_app_t *a = scene_app(s, name);

    a->options.max_instances = max;
    a->options.spawn_if_under = under;
    a->options.hung_extra = 2;
    a->options.hung_after = LIMIT;
    return a;
}

/** The clock, some time later. @return how many are to be killed */
static inline uint32_t slow_look(scene_t *s, int64_t us)
{
    apl_session_peek_t overdue[16];
    uint32_t n;

    s->now += us;
    n = apl_timeouts_find(&s->pool, s->now, overdue, 16);
    scene_ok(s);
    return n;
}

/** Kill it. */
static inline apr_status_t slow_kill(scene_t *s, const apl_session_ref_t *h)
{
    apr_status_t rv = apl_timeouts_kill(&s->pool, h->id, 0, s->now);

    scene_ok(s);
    return rv;
}

#endif
