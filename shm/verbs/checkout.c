/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/verbs/checkout.h"

#include <string.h>

#include "shm/verbs/checkin.h"
#include "shm/verbs/child.h"
#include "shm/verbs/enter.h"
#include "shm/slots/group.h"
#include "shm/format/list.h"
#include "shm/slots/process.h"
#include "shm/slots/queue.h"
#include "shm/policy/retire.h"
#include "shm/policy/capacity.h"
#include "shm/slots/session.h"
#include "shm/lock/wake.h"

/* ---- asking ---- */

/* Find the group and apply the options of the app. Older options than those of
 * the group are not applied: a child of the last generation must not undo a
 * graceful restart. */
static apl_group_t *group_of(apl_lock_token_t *token, const apl_app_t *app)
{
    apl_group_t *g = apl_group_find_or_add(token, app);

    if (g && app->options.config >= g->options.config &&
        apl_group_configure(token, g, &app->options))
        apl_capacity_share(token, g);
    return g;
}

/* restart.txt changed, or always_restart.txt is there. */
static void restart(apl_lock_token_t *token, apl_group_t *g,
                    const apl_restart_seen_t *look)
{
    int due = look && apl_restart_due(token->pool, g, look);

    if (due)
        apl_retire_restart(token, g, g->options.rolling != 0);
    if (look)
        apl_restart_record(token, g, look);
    if (g->stamp.always)
        apl_retire_used(token, g);
    /* A group that has a turn has waited before this request. */
    if (due || g->stamp.always)
        apl_capacity_assign(token);
}

static void write_text(char *to, size_t size, const char *from)
{
    size_t n = from ? strnlen(from, size - 1) : 0;

    if (n > 0)
        memcpy(to, from, n);
    to[n] = 0;
}

/* Fill in the texts for the status page. The slot is this child's, so no lock
 * is needed. */
static void describe(apl_session_t *s, const apl_request_t *request)
{
    size_t path;

    if (!request)
        return;
    write_text(s->method, sizeof s->method, request->method);
    write_text(s->client, sizeof s->client, request->client);
    write_text(s->uri, sizeof s->uri, request->uri);
    path = strlen(s->uri) + 1;
    if (path < sizeof s->uri)
        write_text(s->uri + path, sizeof s->uri - path, request->query);
}

/* This runs without the lock. The process may be gone, and its slot may have
 * another process, which perhaps still boots. Then the id is still that of the
 * first process, and the protocol says that there is no process. */
APL_UNLOCKED static void
fill_ref(apl_session_ref_t *ref, const apl_session_t *s, const apl_process_t *p)
{
    ref->id = s->id;
    ref->pid = p->identity.pid;
    ref->wire = p->wire;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (p->generation != s->process_generation) {
        ref->pid = 0;
        ref->wire.protocol = APL_AUTO;
    }
    /* Each of the two times was read before the lock was taken. */
    ref->queued = s->since > s->queued ? s->since - s->queued : 0;
}

/* The processes of the group may be busy with abandoned requests. When a
 * request waits, the spawner checks more often whether these have ended. So the
 * first waiter rings the doorbell. */
static int spawner_should_look(apl_lock_token_t *token, const apl_group_t *g)
{
    apl_pool_t *pool = token->pool;
    apl_walk_t it;
    uint32_t at;

    if (pool->header->abandoned == 0 || g->waiting != 1)
        return 0;
    it = apl_list_walk(pool, &g->processes, pool->n.processes);
    while ((at = apl_list_next(pool, &it)) != 0) {
        const apl_process_t *p = APL_PROCESS_OF(pool, at, member);

        if (p && p->abandoned > 0)
            return 1;
    }
    return 0;
}

/* No process is free. Wait in the queue, or return why that would be in
 * vain. */
static apr_status_t queue(apl_lock_token_t *token, apl_group_t *g,
                          apl_session_t *s, apl_session_ref_t *ref)
{
    apr_status_t rv = apl_queue_refusal(token, g);

    if (rv == APL_EBACKOFF) {
        ref->error_id = g->error_id;
        ref->retry_after = g->retry_at - token->now;
    }
    if (rv == APL_EQUEUEFULL)
        token->pool->header->counters.queue_full++;
    if (rv != APR_SUCCESS)
        return rv;
    apl_session_queue(token, s);
    apl_capacity_ask(token, g);
    apl_capacity_assign(token);
    if (spawner_should_look(token, g))
        token->ring = 1;
    return APL_EWAIT;
}

static apr_status_t get_process(apl_lock_token_t *token, apl_group_t *g,
                                apl_session_t *s, apl_session_ref_t *ref)
{
    apl_process_t *p;
    uint32_t most;

    if (apl_group_drained(g))
        return APL_EDRAINED;
    /* No request overtakes another: while a request waits, only the queue is
     * served. */
    p = g->waiting == 0 ? apl_group_pick(token, g) : NULL;
    if (!p)
        return queue(token, g, s, ref);
    apl_session_give(token, s, p);
    fill_ref(ref, s, p);
    /* The request waits in the process behind another one, or works beside one
     * that hangs. */
    most = apl_group_concurrency(g, p);
    if ((most != 0 && p->sessions > most) || p->hung)
        apl_capacity_ask(token, g);
    return APR_SUCCESS;
}

/* Take a session slot for a request. @return NULL: there is none, or there is
 * damage */
static apl_session_t *take_session(apl_lock_token_t *token,
                                   const apl_app_t *app, apl_group_t **group)
{
    apl_pool_t *pool = token->pool;

    apl_child_confirm(token);
    *group = pool->self != 0 ? group_of(token, app) : NULL;
    return *group ? apl_session_take(token, pool->self, *group) : NULL;
}

apr_status_t apl_checkout(apl_pool_t *pool, apl_session_ref_t *ref,
                          const apl_app_t *app, const apl_request_t *request,
                          const apl_restart_seen_t *look, int64_t now)
{
    apl_session_t *s;
    apl_group_t *g;
    apl_lock_token_t token;
    apr_status_t rv = apl_enter(&token, pool, now, APL_FOREVER);

    memset(ref, 0, sizeof *ref);
    if (rv != APR_SUCCESS)
        return rv;
    s = take_session(&token, app, &g);
    if (!s && pool->damaged) {
        apl_leave(&token); /* this repairs */
        rv = apl_enter(&token, pool, now, APL_FOREVER);
        if (rv != APR_SUCCESS)
            return rv;
        s = take_session(&token, app, &g);
    }
    if (s) {
        g->used = 1;
        s->counted = request && request->wants_upgrade;
        restart(&token, g, look);
        rv = get_process(&token, g, s, ref);
        if (rv != APR_SUCCESS && rv != APL_EWAIT)
            apl_session_put_back(&token, s);
        else {
            ref->session = APL_SESSION_INDEX(pool, s);
            ref->generation = s->generation;
        }
    }
    else
        rv = pool->self == 0 ? APL_ECHILDREN : APL_EFULL;
    apl_leave(&token);
    if (ref->session != 0)
        describe(s, request);
    return rv;
}

/* ---- waiting ---- */

/* The wait has failed: read why, and give the slot back. */
static apr_status_t take_failure(apl_pool_t *pool, apl_session_ref_t *ref,
                                 int64_t now)
{
    apl_lock_token_t token;
    apl_session_t *s;
    apl_group_t *g;
    apr_status_t rv = apl_enter(&token, pool, now, APL_FOREVER);

    if (rv != APR_SUCCESS)
        return rv;
    rv = APL_EDAMAGED;
    s = apl_session_ref_find(pool, ref);
    if (s && s->state == APL_SESSION_FAILED) {
        rv = (apr_status_t)s->outcome;
        g = apl_session_group(&token, s);
        if (g) {
            ref->error_id = g->error_id;
            ref->retry_after = g->retry_at > now ? g->retry_at - now : 0;
        }
        apl_session_free(&token, s);
    }
    apl_leave(&token);
    ref->session = 0;
    return rv;
}

APL_UNLOCKED apr_status_t apl_checkout_poll(apl_pool_t *pool,
                                            apl_session_ref_t *ref, int64_t now)
{
    apl_session_t *s = apl_session_ref_find(pool, ref);
    const apl_process_t *p;

    if (!s) {
        ref->session = 0;
        return APL_EDAMAGED;
    }
    switch (__atomic_load_n(&s->state, __ATOMIC_ACQUIRE)) {
    case APL_SESSION_WAITING:
        return APL_EWAIT;
    case APL_SESSION_OPEN:
        p = apl_process_at(pool, s->process);
        if (!p)
            return APL_EDAMAGED;
        fill_ref(ref, s, p);
        return APR_SUCCESS;
    default:
        return take_failure(pool, ref, now);
    }
}

static void count_failure(apl_pool_t *pool, apr_status_t rv)
{
    apl_counters_t *c = &pool->header->counters;

    if (rv == APL_ETIMEOUT)
        __atomic_add_fetch(&c->timeouts, 1, __ATOMIC_RELAXED);
    else if (rv == APL_EGONE)
        __atomic_add_fetch(&c->gone, 1, __ATOMIC_RELAXED);
}

apr_status_t apl_checkout_wait(apl_pool_t *pool, apl_session_ref_t *ref,
                               int64_t deadline, apl_client_gone_t *gone,
                               void *ctx)
{
    apl_session_t *s = apl_session_ref_find(pool, ref);
    apr_status_t rv = s ? APL_EWAIT : APL_EDAMAGED;
    int slept = 0;

    while (s && rv == APL_EWAIT) {
        uint32_t seen = apl_wake_read(&s->wake_word);
        int64_t now = apl_now();
        int64_t left = deadline - now;

        rv = apl_checkout_poll(pool, ref, now);
        if (rv == APL_EWAIT || rv == APR_SUCCESS) {
            if (gone && (slept || rv == APR_SUCCESS) && gone(ctx))
                rv = APL_EGONE;
            else if (rv == APL_EWAIT && pool->stopping)
                rv = APL_ESTOPPING;
            else if (rv == APL_EWAIT && left <= 0)
                rv = APL_ETIMEOUT;
        }
        if (rv == APL_EWAIT)
            apl_wake_sleep(&s->wake_word, seen,
                           left < APL_WAKE_SLICE ? left : APL_WAKE_SLICE);
        slept = 1;
    }
    if (rv != APR_SUCCESS && ref->session != 0) {
        count_failure(pool, rv);
        apl_checkin_unused(pool, ref, apl_now());
    }
    return rv;
}

APL_UNLOCKED void apl_checkout_stop(apl_pool_t *pool)
{
    uint32_t i, top;

    pool->stopping = 1;
    /* A request that begins to wait and does not see `stopping` is seen by the
     * loop below. */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    top = pool->header->top_session;
    for (i = 1; i <= top && i < pool->n.sessions; i++) {
        apl_session_t *s = &pool->sessions[i];

        if (s->child == pool->self && s->state == APL_SESSION_WAITING) {
            apl_wake_change(&s->wake_word);
            apl_wake_up(&s->wake_word);
        }
    }
}

void apl_checkout_set_long_lived(apl_pool_t *pool, const apl_session_ref_t *ref,
                                 uint32_t how)
{
    apl_session_t *s = apl_session_ref_find(pool, ref);

    if (!s)
        return;
    __atomic_store_n(&s->counted, how == APL_LONG_LIVED_CONNECTION,
                     __ATOMIC_RELAXED);
    __atomic_store_n(&s->long_lived, (uint16_t)how, __ATOMIC_RELAXED);
}

/* A session that was abandoned occupies no worker of httpd. */
APL_UNLOCKED static int counts_before(const apl_session_t *s,
                                      const apl_session_t *own)
{
    return s->state != APL_SESSION_FREE && s->child != 0 &&
           s->group == own->group && s != own && s->counted &&
           (s->long_lived == APL_LONG_LIVED_CONNECTION ||
            s->ticket < own->ticket);
}

APL_UNLOCKED apl_long_lived_t apl_checkout_count_long_lived(
    const apl_pool_t *pool, const apl_session_ref_t *ref, int suspended)
{
    apl_session_t *own = apl_session_ref_find(pool, ref);
    apl_long_lived_t n = {0, 0};
    uint32_t i, top;

    if (!own)
        return n;
    __atomic_store_n(&own->suspended, suspended != 0, __ATOMIC_RELAXED);
    __atomic_store_n(&own->counted, 1, __ATOMIC_SEQ_CST);
    top = apl_top(&pool->header->top_session, pool->n.sessions);
    for (i = 1; i <= top; i++) {
        const apl_session_t *s = &pool->sessions[i];

        if (counts_before(s, own))
            ++*(s->suspended ? &n.suspended : &n.held);
    }
    return n;
}

static uint32_t killed(const apl_pool_t *pool, const apl_session_ref_t *ref)
{
    const apl_session_t *s = apl_session_ref_find(pool, ref);

    return s ? __atomic_load_n(&s->killed, __ATOMIC_RELAXED) : 0;
}

int apl_checkout_killed(const apl_pool_t *pool, const apl_session_ref_t *ref)
{
    uint32_t why = killed(pool, ref);

    return why == APL_KILLED || why == APL_DYING;
}

int apl_checkout_dying(const apl_pool_t *pool, const apl_session_ref_t *ref)
{
    return killed(pool, ref) == APL_DYING;
}

int apl_checkout_closed(const apl_pool_t *pool, const apl_session_ref_t *ref)
{
    return killed(pool, ref) == APL_CLOSED;
}
