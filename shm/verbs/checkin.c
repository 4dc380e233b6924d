/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/verbs/checkin.h"

#include "shm/verbs/enter.h"
#include "shm/format/histogram.h"
#include "shm/slots/process.h"
#include "shm/policy/retire.h"
#include "shm/policy/capacity.h"
#include "shm/slots/session.h"

APL_UNLOCKED apl_session_t *apl_checkin_session(const apl_pool_t *pool,
                                                const apl_hold_t *hold)
{
    apl_session_t *s = apl_session_at(pool, hold->session);

    return s && hold->session <= pool->header->top_session &&
                   s->generation == hold->generation && s->owner == pool->self
               ? s
               : NULL;
}

/* How a session ends. */
typedef enum {
    CLOSED,    /* with a request served */
    ABANDONED, /* its process works on it yet */
    RECLAIMED, /* with a request that nobody waits for */
    UNUSED,    /* its process never heard of it */
    REFUSED,   /* the process did not take the connection */
} ending_t;

static void count_time(apl_held_t *held, const apl_session_t *s, apl_group_t *g)
{
    apl_counters_t *c = &held->pool->header->counters;

    c->served++;
    c->app_time +=
        apl_histogram_count(&g->app_time, apl_since(held->now, s->since));
}

/* Also that of one which was killed, and whose process may be gone: it is by
 * those that an app is known to be slow. */
static int has_taken_time(const apl_session_t *s, ending_t how)
{
    return s->state == APL_SESSION_HELD &&
           (how <= ABANDONED || (how == REFUSED && s->killed));
}

static void close_session(apl_held_t *held, apl_session_t *s, ending_t how)
{
    apl_process_t *p =
        s->state == APL_SESSION_HELD ? apl_session_process(held, s) : NULL;
    apl_group_t *g = apl_session_group(held, s);
    int served = how <= RECLAIMED;

    if (g && has_taken_time(s, how))
        count_time(held, s, g);
    if (p) {
        apl_process_touch(held, p);
        p->processed += (uint64_t)served;
        APL_STEP("close_counted");
    }
    apl_session_free(held, s);
    if (!p || !g)
        return;
    if (served)
        g->young = 0;
    apl_process_close(held, p);
    if (p->state == APL_PROCESS_LIVE && how == REFUSED) {
        held->pool->header->counters.refused++;
        apl_process_leave(held, p, APL_EVENT_REFUSED);
    }
    else
        apl_retire_if_due(held, g, p);
    apl_room_share(held, g);
}

/* A process that is given no more requests is ended all the same. What would
 * have lasted takes no place of one that serves any number; and it ends with
 * its child. */
static int may_abandon(const apl_process_t *p, const apl_group_t *g,
                       const apl_session_t *s, int answered)
{
    uint32_t most = apl_group_concurrency(g, p);

    return p->state == APL_PROCESS_LIVE &&
           (!s->endless || (answered && most > 0)) &&
           p->abandoned < (most ? most : 1);
}

/* The client of a response that lasts has gone: from now on it is a request
 * that has to end. First its age, so that nobody who looks without the lock
 * takes it for a request as old as the answer was. */
static void make_finite(apl_held_t *held, apl_session_t *s)
{
    s->since = held->now;
    __atomic_store_n(&s->endless, 0, __ATOMIC_RELEASE);
    APL_STEP("abandon_finite");
}

/* @param answered 1: the client was, so its time counts. @return 0: to be
 * closed */
static int abandon(apl_held_t *held, apl_session_t *s, int answered)
{
    apl_process_t *p =
        s->state == APL_SESSION_HELD ? apl_session_process(held, s) : NULL;
    apl_group_t *g = apl_session_group(held, s);

    if (!p || !g || !may_abandon(p, g, s, answered))
        return 0;
    apl_process_touch(held, p);
    if (answered)
        count_time(held, s, g);
    if (s->endless)
        make_finite(held, s);
    apl_session_abandon(held, s, p);
    apl_room_yield(held, p);
    return 1;
}

static void end(apl_pool_t *pool, apl_hold_t *hold, int64_t now, ending_t how)
{
    apl_session_t *s = apl_checkin_session(pool, hold);
    apl_held_t held;

    if (s && apl_enter(&held, pool, now, APL_FOREVER) == APR_SUCCESS) {
        s = apl_checkin_session(pool, hold); /* still, after a repair */
        if (s && s->state != APL_SESSION_FREE &&
            (how != ABANDONED || !abandon(&held, s, 1)))
            close_session(&held, s, how);
        apl_leave(&held);
    }
    hold->session = 0;
}

void apl_checkin(apl_pool_t *pool, apl_hold_t *hold, int64_t now)
{
    end(pool, hold, now, CLOSED);
}

void apl_checkin_abandon(apl_pool_t *pool, apl_hold_t *hold, int64_t now)
{
    end(pool, hold, now, ABANDONED);
}

void apl_checkin_refused(apl_pool_t *pool, apl_hold_t *hold, int64_t now)
{
    end(pool, hold, now, REFUSED);
}

void apl_checkin_unused(apl_pool_t *pool, apl_hold_t *hold, int64_t now)
{
    end(pool, hold, now, UNUSED);
}

void apl_checkin_orphan(apl_held_t *held, apl_session_t *session)
{
    if (!abandon(held, session, 0))
        close_session(held, session, RECLAIMED);
}

void apl_checkin_reclaim(apl_held_t *held, apl_session_t *session)
{
    close_session(held, session, RECLAIMED);
}
