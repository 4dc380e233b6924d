/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/verbs/checkin.h"

#include "shm/verbs/enter.h"
#include "shm/format/histogram.h"
#include "shm/slots/group.h"
#include "shm/slots/process.h"
#include "shm/policy/backoff.h"
#include "shm/policy/retire.h"
#include "shm/policy/capacity.h"
#include "shm/slots/session.h"

/* How a session ends. */
typedef enum {
    CLOSED,     /* its request was served */
    ABANDONED,  /* its process still works on it */
    RECLAIMED,  /* no client waits for its request any more */
    LAST,       /* as CLOSED, and its process ends */
    UNANSWERED, /* its process has closed the connection */
    UNUSED,     /* its process never got the request */
    REFUSED,    /* the process did not take the connection */
} ending_t;

static void count_time(apl_lock_token_t *token, const apl_session_t *s,
                       apl_group_t *g)
{
    apl_counters_t *c = &token->pool->header->counters;

    c->served++;
    c->app_time +=
        apl_histogram_count(&g->app_time, apl_since(token->now, s->since));
}

/* Does the time of the request count? It counts also when the process was
 * killed because of the request: such requests show that an app is slow. */
static int has_taken_time(const apl_session_t *s, ending_t how)
{
    return s->state == APL_SESSION_OPEN &&
           (how <= ABANDONED || how == LAST || how == UNANSWERED ||
            (how == REFUSED && s->killed));
}

/* The response is proof, even if its process has ended since. Requests that
 * wait need not wait for the end of the pause. */
static void end_row(apl_lock_token_t *token, apl_group_t *g)
{
    apl_backoff_end_row(token, g);
    apl_capacity_share(token, g);
}

static void close_session(apl_lock_token_t *token, apl_session_t *s,
                          ending_t how)
{
    apl_process_t *p =
        s->state == APL_SESSION_OPEN ? apl_session_process(token, s) : NULL;
    apl_group_t *g = apl_session_group(token, s);
    int responded = s->state == APL_SESSION_OPEN && how <= LAST;

    if (g && has_taken_time(s, how))
        count_time(token, s, g);
    if (p) {
        apl_process_touch(token, p);
        p->processed += how <= UNANSWERED;
        if (responded)
            p->responded = 1;
        APL_CRASH_POINT("close_counted");
    }
    apl_session_free(token, s);
    if (g && p && responded)
        apl_backoff_note_response(token, g, p);
    if (g && responded && (g->young != 0 || (p && p->trial)))
        end_row(token, g);
    if (!p || !g)
        return;
    apl_process_close(token, p);
    if (p->state == APL_PROCESS_LIVE && (how == REFUSED || how == LAST)) {
        token->pool->header->counters.refused++;
        apl_backoff_note_end(token, g, p);
        apl_process_leave(token, p, APL_EVENT_REFUSED);
    }
    else
        apl_retire_if_due(token, g, p);
    apl_capacity_share(token, g);
}

/* A process that gets no more requests ends anyway. A long-lived session is not
 * abandoned but closed in two cases: its process serves any number of requests,
 * so the session takes no place there; or its child of httpd is dead. */
static int may_abandon(const apl_process_t *p, const apl_group_t *g,
                       const apl_session_t *s, int responded)
{
    uint32_t most = apl_group_concurrency(g, p);

    return p->state == APL_PROCESS_LIVE &&
           (!s->long_lived || (responded && most > 0)) &&
           p->abandoned < (most ? most : 1);
}

/* The client of a long-lived session has gone: from now on, the request has to
 * end. Its age is set first, so that a reader without the lock does not take
 * it for a request that is as old as the response. */
static void make_finite(apl_lock_token_t *token, apl_session_t *s)
{
    s->since = token->now;
    __atomic_store_n(&s->long_lived, 0, __ATOMIC_RELEASE);
    APL_CRASH_POINT("abandon_finite");
}

/* @param responded 1: the client got its response, so the time counts
 * @return 0: close the session instead */
static int abandon(apl_lock_token_t *token, apl_session_t *s, int responded)
{
    apl_process_t *p =
        s->state == APL_SESSION_OPEN ? apl_session_process(token, s) : NULL;
    apl_group_t *g = apl_session_group(token, s);

    if (!p || !g || !may_abandon(p, g, s, responded))
        return 0;
    apl_process_touch(token, p);
    if (responded)
        count_time(token, s, g);
    if (s->long_lived)
        make_finite(token, s);
    apl_session_abandon(token, s, p);
    apl_capacity_evict_abandoned(token, p);
    return 1;
}

static void end_session(apl_pool_t *pool, apl_session_ref_t *ref, int64_t now,
                        ending_t how)
{
    apl_session_t *s = apl_session_ref_find(pool, ref);
    apl_lock_token_t token;

    if (s && apl_enter(&token, pool, now, APL_FOREVER) == APR_SUCCESS) {
        s = apl_session_ref_find(pool, ref); /* a repair may have freed it */
        if (s && s->state != APL_SESSION_FREE &&
            (how != ABANDONED || !abandon(&token, s, 1)))
            close_session(&token, s, how);
        apl_leave(&token);
    }
    ref->session = 0;
}

void apl_checkin(apl_pool_t *pool, apl_session_ref_t *ref, int64_t now)
{
    end_session(pool, ref, now, CLOSED);
}

void apl_checkin_abandon(apl_pool_t *pool, apl_session_ref_t *ref, int64_t now)
{
    end_session(pool, ref, now, ABANDONED);
}

void apl_checkin_refused(apl_pool_t *pool, apl_session_ref_t *ref, int64_t now)
{
    end_session(pool, ref, now, REFUSED);
}

void apl_checkin_last(apl_pool_t *pool, apl_session_ref_t *ref, int64_t now)
{
    end_session(pool, ref, now, LAST);
}

void apl_checkin_unanswered(apl_pool_t *pool, apl_session_ref_t *ref,
                            int64_t now)
{
    end_session(pool, ref, now, UNANSWERED);
}

void apl_checkin_unused(apl_pool_t *pool, apl_session_ref_t *ref, int64_t now)
{
    end_session(pool, ref, now, UNUSED);
}

void apl_checkin_orphan(apl_lock_token_t *token, apl_session_t *session)
{
    if (!abandon(token, session, 0))
        close_session(token, session, RECLAIMED);
}

void apl_checkin_reclaim(apl_lock_token_t *token, apl_session_t *session)
{
    close_session(token, session, RECLAIMED);
}
