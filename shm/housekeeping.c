/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The verbs of supervise.h that keep the pool in shape: limits, options,
 * httpd children, the tick. */

#include "shm/supervise.h"

#include <string.h>

#include "shm/enter.h"
#include "shm/event.h"
#include "shm/group.h"
#include "shm/list.h"
#include "shm/process.h"
#include "shm/queue.h"
#include "shm/retire.h"
#include "shm/room.h"
#include "shm/session.h"

static apr_status_t enter(apl_held_t *held, apl_pool_t *pool, int64_t now)
{
    return apl_enter(held, pool, now, APL_SUPERVISE_LIMIT);
}

/* ---- httpd children ---- */

apr_status_t apl_supervise_child(const apl_pool_t *pool, uint32_t index,
                                 apl_watch_t *watch)
{
    const apl_child_t *c = apl_child_at(pool, index);

    if (!c || index > pool->header->top_child ||
        __atomic_load_n(&c->state, __ATOMIC_ACQUIRE) != APL_CHILD_USED)
        return APL_ESTALE;
    watch->index = index;
    watch->generation = c->generation;
    watch->who = c->who;
    return APR_SUCCESS;
}

/* End one session of a dead child's. */
static void reclaim(apl_held_t *held, apl_session_t *s)
{
    apl_group_t *g = apl_session_group(held, s);
    apl_process_t *p = NULL;

    if (s->state == APL_SESSION_HELD)
        p = apl_session_process(held, s);
    if (p) {
        p->processed++;
        p->last_used = held->now;
        APL_STEP("reclaim_counted");
    }
    apl_session_free(held, s);
    if (p) {
        apl_process_close(held, p);
        if (g)
            apl_retire_if_due(held, g, p);
    }
    if (g)
        apl_room_share(held, g);
}

apr_status_t apl_supervise_child_gone(apl_pool_t *pool,
                                      const apl_watch_t *watch, int64_t now)
{
    apl_child_t *c = apl_child_at(pool, watch->index);
    apl_held_t held;
    uint32_t i, n = 0;
    apr_status_t rv = c ? enter(&held, pool, now) : APL_ESTALE;

    if (rv != APR_SUCCESS)
        return rv;
    if (c->state != APL_CHILD_USED || c->generation != watch->generation) {
        apl_leave(&held);
        return APL_ESTALE;
    }
    for (i = 1; c->sessions > 0 && i <= pool->header->top_session &&
                i < pool->n.sessions;
         i++) {
        apl_session_t *s = &pool->sessions[i];

        if (s->owner != watch->index || s->state == APL_SESSION_FREE)
            continue;
        reclaim(&held, s);
        n++;
    }
    if (c->sessions != 0)
        pool->damaged = 1;
    apl_child_free(&held, c);
    if (n > 0) {
        pool->header->counters.child_deaths++;
        apl_event_note(&held, APL_EVENT_CHILD_DIED, NULL, NULL);
    }
    apl_leave(&held);
    return APR_SUCCESS;
}

/* ---- configuration ---- */

apr_status_t apl_supervise_limits(apl_pool_t *pool, uint32_t max,
                                  uint32_t config, int64_t now)
{
    apl_header_t *h = pool->header;
    apl_held_t held;
    apr_status_t rv;

    if (h->max == max && h->config == config)
        return APR_SUCCESS;
    rv = enter(&held, pool, now);
    if (rv != APR_SUCCESS)
        return rv;
    h->max = max;
    h->config = config;
    APL_STEP("limits");
    apl_room_share_all(&held);
    apl_leave(&held);
    return APR_SUCCESS;
}

apr_status_t apl_supervise_configure(apl_pool_t *pool, const apl_app_t *app,
                                     int prestart, int64_t now)
{
    apl_group_t *g;
    apl_held_t held;
    apr_status_t rv = enter(&held, pool, now);

    if (rv != APR_SUCCESS)
        return rv;
    g = apl_group_find(&held, app->key, app->name);
    if (g)
        apl_group_configure(&held, g, &app->options);
    else if (prestart) {
        g = apl_group_add(&held, app->key, app->name, app->root, &app->options);
        rv = g ? APR_SUCCESS : APL_EFULL;
    }
    if (g) {
        g->retired = 0;
        if (prestart)
            g->used = 1;
        if (g->used && g->size < g->options.min_instances)
            apl_room_want(&held, g);
        apl_room_share(&held, g);
    }
    apl_leave(&held);
    return rv;
}

apr_status_t apl_supervise_remove(apl_pool_t *pool, const char *name,
                                  int64_t now)
{
    apl_group_t *g;
    apl_held_t held;
    apr_status_t rv = enter(&held, pool, now);

    if (rv != APR_SUCCESS)
        return rv;
    g = apl_group_find(&held, apl_group_key(name), name);
    if (!g)
        rv = APL_ESTALE;
    else if (!g->retired) {
        g->retired = 1;
        APL_STEP("remove_retired");
        apl_retire_group(&held, g, APL_EVENT_REMOVED);
        apl_room_settle(&held);
    }
    apl_leave(&held);
    return rv;
}

apr_status_t apl_supervise_restart(apl_pool_t *pool, const char *name,
                                   int rolling, int64_t now)
{
    apl_group_t *g;
    apl_held_t held;
    apr_status_t rv = enter(&held, pool, now);

    if (rv != APR_SUCCESS)
        return rv;
    g = apl_group_find(&held, apl_group_key(name), name);
    if (g) {
        apl_retire_restart(&held, g,
                           rolling < 0 ? g->options.rolling != 0 : rolling);
        apl_room_share(&held, g);
    }
    apl_leave(&held);
    return g ? APR_SUCCESS : APL_ESTALE;
}

apr_status_t apl_supervise_group(const apl_pool_t *pool, uint32_t index,
                                 char name[APL_NAME_MAX])
{
    const apl_group_t *g = apl_group_at(pool, index);

    if (!g || index > pool->header->top_group || g->state != APL_GROUP_USED)
        return APL_ESTALE;
    memcpy(name, g->name, APL_NAME_MAX);
    name[APL_NAME_MAX - 1] = 0;
    return APR_SUCCESS;
}

/* ---- the tick ---- */

/* Is the process still in use by a leaver, a start, or a session? */
static int group_in_use(const apl_pool_t *pool, uint32_t index)
{
    uint32_t i;

    for (i = 1; i <= pool->header->top_process && i < pool->n.processes; i++)
        if (pool->processes[i].state != APL_PROCESS_FREE &&
            pool->processes[i].group == index)
            return 1;
    for (i = 1; i <= pool->header->top_session && i < pool->n.sessions; i++)
        if (pool->sessions[i].state != APL_SESSION_FREE &&
            pool->sessions[i].group == index)
            return 1;
    return 0;
}

/* End idle processes that nobody used for PoolIdleTime, or that are above a
 * limit that was lowered; the longest idle first. */
static void trim(apl_held_t *held, apl_group_t *g, int64_t *next)
{
    apl_pool_t *pool = held->pool;
    apl_header_t *h = pool->header;
    const apl_options_t *o = &g->options;
    uint32_t at;

    while ((at = apl_list_last(pool, &g->idle)) != 0) {
        apl_process_t *p = APL_PROCESS_OF(pool, at, idle);
        if (!p) {
            pool->damaged = 1;
            return;
        }
        if (apl_group_above(held, g)) {
            apl_process_leave(held, p, APL_EVENT_TRIMMED);
            continue;
        }
        if (o->idle_time <= 0 || g->size <= o->min_instances)
            return;
        if (held->now - p->last_used < o->idle_time) {
            if (p->last_used + o->idle_time < *next)
                *next = p->last_used + o->idle_time;
            return;
        }
        h->counters.idled++;
        apl_process_leave(held, p, APL_EVENT_IDLE);
    }
}

static void tend(apl_held_t *held, apl_group_t *g, int64_t *next)
{
    trim(held, g, next);
    if (g->used && g->size < g->options.min_instances)
        apl_room_want(held, g);
    apl_room_replace(held, g);
    if (g->failures != 0 && g->retry_at > held->now &&
        g->waiting + g->outdated > 0 && g->retry_at < *next)
        *next = g->retry_at;
    apl_room_share(held, g);
    if (g->retired && g->size + g->spawning + g->waiting == 0 &&
        !group_in_use(held->pool, APL_GROUP_INDEX(held->pool, g)))
        apl_group_drop(held, g);
}

apr_status_t apl_supervise_tick(apl_pool_t *pool, int64_t now, int64_t *next)
{
    uint32_t i;

    *next = now + 1000000;
    /* One group under the lock at a time: requests pass in between. */
    for (i = 1; i <= pool->header->top_group && i < pool->n.groups; i++) {
        apl_group_t *g = &pool->groups[i];
        apl_held_t held;
        apr_status_t rv;

        if (g->state != APL_GROUP_USED)
            continue;
        rv = enter(&held, pool, now);
        if (rv != APR_SUCCESS)
            return rv;
        if (g->state == APL_GROUP_USED)
            tend(&held, g, next);
        apl_leave(&held);
    }
    return APR_SUCCESS;
}
