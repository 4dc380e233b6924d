/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/pump/rehearsal.h"

#include <apr_atomic.h>
#include <apr_thread_mutex.h>

#include "shm/lock/lock_token.h"

#define LATE (5 * 1000000) /* us: more than the pump takes for a wake */

static const char *const words[APPPOOL_REHEARSAL_STEPS] = {
    [APPPOOL_REHEARSAL_RETURNED] = "a suspended request",
    [APPPOOL_REHEARSAL_WAITS] = "a connection that waits",
    [APPPOOL_REHEARSAL_WOKEN] = "a wake",
    [APPPOOL_REHEARSAL_WAITS_ON] = "a connection that goes on waiting",
    [APPPOOL_REHEARSAL_CLOSED] = "the end of a connection",
};

enum { NOT_BEGUN, IDLE, WATCHES, OVER };

static struct {
    apr_thread_mutex_t *mutex;
    uint32_t most;
    apr_uint32_t state;
    const void *who;
    apppool_rehearsal_step_t next; /* step */
    int64_t due;     /* us of apl_now(), since then; 0: it is not */
    uint32_t others; /* that were served when it was late */
    int is_short;    /* it ends before it has seen all steps */
    int unwoken;     /* one after the other, until Timeout */
} rehearsal;

/* Most requests of httpd pass here, and see only the state.
 * @return 0: it has another one, and the mutex is not held */
static int enter(apr_uint32_t state)
{
    if (apr_atomic_read32(&rehearsal.state) != state)
        return 0;
    apr_thread_mutex_lock(rehearsal.mutex);
    if (rehearsal.state == state)
        return 1;
    apr_thread_mutex_unlock(rehearsal.mutex);
    return 0;
}

static void leave(apr_uint32_t state)
{
    apr_atomic_set32(&rehearsal.state, state);
    apr_thread_mutex_unlock(rehearsal.mutex);
}

static void expect(apppool_rehearsal_step_t next, int64_t due)
{
    rehearsal.next = next;
    rehearsal.due = due;
    rehearsal.others = 0;
}

apr_status_t apppool_rehearsal_begin(apr_pool_t *pchild, uint32_t most)
{
    apr_status_t rv = apr_thread_mutex_create(&rehearsal.mutex,
                                              APR_THREAD_MUTEX_DEFAULT, pchild);

    rehearsal.most = most;
    rehearsal.unwoken = 0;
    rehearsal.state = rv == APR_SUCCESS ? IDLE : NOT_BEGUN;
    return rv;
}

void apppool_rehearsal_take(const void *who)
{
    if (!enter(IDLE))
        return;
    rehearsal.who = who;
    rehearsal.is_short = 0;
    expect(APPPOOL_REHEARSAL_RETURNED, apl_now());
    leave(WATCHES);
}

int apppool_rehearsal_done(const void *who, apppool_rehearsal_step_t step)
{
    int is_due;

    if (!enter(WATCHES))
        return 0;
    is_due = rehearsal.who == who && rehearsal.next == step;
    /* How long it lives is up to both sides. */
    if (is_due && step == APPPOOL_REHEARSAL_WOKEN)
        rehearsal.unwoken = 0;
    if (is_due)
        expect(step + 1, step == APPPOOL_REHEARSAL_WAITS_ON ? 0 : apl_now());
    leave(WATCHES);
    return is_due;
}

void apppool_rehearsal_ending(const void *who)
{
    if (!enter(WATCHES))
        return;
    if (rehearsal.who == who) {
        rehearsal.is_short |= rehearsal.next != APPPOOL_REHEARSAL_CLOSED;
        expect(APPPOOL_REHEARSAL_CLOSED, apl_now());
    }
    leave(WATCHES);
}

/* One wake may not come: all workers may have been busy, or the machine was
 * stopped. A worker that has let a second one wait would have seen the
 * first. */
static const char *find_missed(void)
{
    if (rehearsal.next == APPPOOL_REHEARSAL_STEPS || rehearsal.due == 0 ||
        (rehearsal.next == APPPOOL_REHEARSAL_WOKEN && !rehearsal.unwoken++))
        return NULL;
    return words[rehearsal.next];
}

/* How it ends may be up to httpd. */
static int is_complete(void)
{
    return rehearsal.next >= APPPOOL_REHEARSAL_CLOSED && !rehearsal.is_short;
}

const char *apppool_rehearsal_leave(const void *who)
{
    const char *missed = NULL;
    apr_uint32_t state = WATCHES;

    if (!enter(WATCHES))
        return NULL;
    if (rehearsal.who == who) {
        missed = find_missed();
        state = missed || is_complete() ? OVER : IDLE;
    }
    leave(state);
    return missed;
}

const char *apppool_rehearsal_other(void)
{
    const char *missed = NULL;

    if (!enter(WATCHES))
        return NULL;
    if (rehearsal.due != 0 && apl_now() - rehearsal.due >= LATE &&
        ++rehearsal.others > rehearsal.most)
        missed = words[rehearsal.next];
    leave(missed ? OVER : WATCHES);
    return missed;
}
