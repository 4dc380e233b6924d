/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/policy/capacity.h"

#include "shm/slots/event.h"
#include "shm/slots/group.h"
#include "shm/slots/hung.h"
#include "shm/format/list.h"
#include "shm/policy/room.h"
#include "shm/policy/turn.h"
#include "shm/slots/process.h"
#include "shm/slots/queue.h"

/* The process of a group above its minimum that has been idle longest. If there
 * is none and the newcomer is unserved: the process of any group that has been
 * idle longest, because a minimum must not lock another app out. This walks
 * over idle processes, but only when a process is about to be started.
 * @param unserved 1: the newcomer is unserved, or was until its try was live */
static apl_process_t *idle_to_evict(apl_lock_token_t *token,
                                    const apl_group_t *newcomer, int unserved)
{
    apl_pool_t *pool = token->pool;
    apl_walk_t it;
    apl_process_t *second = NULL;
    uint32_t at;

    it = apl_list_walk(pool, &pool->header->inactive, pool->n.processes);
    while ((at = apl_list_next(pool, &it)) != 0) {
        apl_process_t *p = APL_PROCESS_OF(pool, at, pool);
        const apl_group_t *g = p ? apl_process_group(token, p) : NULL;

        if (!g || g == newcomer)
            continue;
        if (g->size > g->options.min_instances)
            return p;
        if (!second && unserved)
            second = p;
    }
    return second;
}

/* The busy process of a group that has the fewest sessions. It finishes its
 * sessions. A hung process does not count, so its end makes no room. */
static apl_process_t *busy_to_evict(apl_lock_token_t *token,
                                    const apl_group_t *of,
                                    const apl_group_t *newcomer)
{
    apl_process_t *p;

    if (!of || of == newcomer || of->order == 0)
        return NULL;
    p = apl_process_at(token->pool, of->order);
    return p && p->state == APL_PROCESS_LIVE && !p->hung ? p : NULL;
}

static void evict(apl_lock_token_t *token, apl_process_t *process)
{
    apl_group_t *g = apl_process_group(token, process);

    apl_process_leave(token, process, APL_EVENT_EVICTED);
    token->pool->header->counters.evicted++;
    /* The group of that process may have been at its own limit. Now it may
     * start a process. */
    if (g && g->waiting > 0 && apl_group_may_grow(token, g))
        apl_turn_take(token, g);
}

/* End a process to make room for the newcomer. @param freed the group of which
 * a process became free, or NULL. @return 0: no process can leave */
static int make_room(apl_lock_token_t *token, const apl_group_t *newcomer,
                     const apl_group_t *freed)
{
    apl_process_t *p;

    if (!apl_room_is_left(token->pool, NULL, 1))
        return 0;
    p = idle_to_evict(token, newcomer, apl_group_unserved(newcomer));
    if (!p)
        p = busy_to_evict(token, freed, newcomer);
    if (!p)
        return 0;
    evict(token, p);
    return 1;
}

void apl_capacity_ask(apl_lock_token_t *token, apl_group_t *group)
{
    if (!apl_group_may_grow(token, group))
        return;
    if (apl_room_is_left(token->pool, group, 0) &&
        !apl_turn_is_behind(token, group))
        apl_process_reserve(token, group, 0);
    else if (group->waiting > 0)
        apl_turn_take(token, group);
}

void apl_capacity_keep_minimum(apl_lock_token_t *token, apl_group_t *group)
{
    if (group->used && group->size < group->options.min_instances)
        apl_capacity_ask(token, group);
}

int apl_capacity_reserve(apl_lock_token_t *token, apl_group_t *group)
{
    if (!apl_group_may_grow(token, group))
        return 0;
    if (!apl_room_is_left(token->pool, group, 0) &&
        (!apl_turn_may_evict(token, group) || !make_room(token, group, NULL)))
        return 0;
    return apl_process_reserve(token, group, 0) != NULL;
}

/* The next group that gets a process. Either a place is left, or a process
 * makes room, if the group is unserved. @param freed as of make_room()
 * @return NULL: there is none */
static apl_group_t *next_served(apl_lock_token_t *token,
                                const apl_group_t *freed)
{
    apl_header_t *h = token->pool->header;
    apl_group_t *g;

    if (apl_room_is_left(token->pool, NULL, 0))
        return apl_turn_older(
            token, apl_turn_next(token, &h->unserved, NULL, NULL),
            apl_turn_next(token, &h->growing, apl_turn_has_room, NULL));
    g = apl_turn_next(token, &h->unserved, apl_turn_may_evict, NULL);
    return g && make_room(token, g, freed) ? g : NULL;
}

/* The group's turn is over: a process is wanted for it. If a template forks its
 * processes, and its requests need more of them, the group takes another turn.
 * @param replaces 1: it may stand above the limit. @return 0: no slot is
 * free */
static int start_for(apl_lock_token_t *token, apl_group_t *group, int replaces)
{
    apl_list_remove(token->pool, &group->turn);
    apl_list_remove(token->pool, &group->above);
    if (!apl_process_reserve(token, group, replaces))
        return 0;
    if (group->waiting > 0 && apl_group_may_grow(token, group))
        apl_turn_take(token, group);
    return 1;
}

/* ---- the place above the limit ---- */

static void serve_above(apl_lock_token_t *token)
{
    apl_group_t *g;

    while (token->turns > 0 && apl_room_is_left_above(token->pool) &&
           (g = apl_turn_next_above(token)) != NULL) {
        token->turns--;
        if (!start_for(token, g,
                       apl_turn_may_replace(token, g) ||
                           !apl_turn_has_room(token, g)))
            return;
    }
}

void apl_capacity_replace_outdated(apl_lock_token_t *token, apl_group_t *group)
{
    if (group->outdated > 0)
        apl_turn_take_above(token, group);
    serve_above(token);
}

void apl_capacity_end_excess(apl_lock_token_t *token, const apl_group_t *group)
{
    apl_process_t *p =
        apl_hung_exceeded(token->pool) ? idle_to_evict(token, group, 1) : NULL;

    if (p)
        evict(token, p);
}

/* ---- who gets the room ---- */

/* Serve turns while there is room. @param freed as of make_room() */
static void serve_turns(apl_lock_token_t *token, const apl_group_t *freed)
{
    apl_group_t *g;

    /* A group has a bounded number of starts at a time, so this ends. If another
     * process keeps writing that a group has no start, token->turns ends it. */
    while (token->turns > 0 && (g = next_served(token, freed)) != NULL) {
        token->turns--;
        if (!start_for(token, g, 0))
            return;
    }
    serve_above(token);
}

void apl_capacity_assign(apl_lock_token_t *token)
{
    serve_turns(token, NULL);
}

void apl_capacity_share(apl_lock_token_t *token, apl_group_t *group)
{
    apl_pool_t *pool = token->pool;
    /* Compare with the group that serve_turns() would serve. Without a free
     * place, it serves no group whose starts fail. */
    apl_turn_fits_t *fits =
        apl_room_is_left(pool, NULL, 0) ? NULL : apl_turn_may_evict;
    apl_group_t *first =
        apl_turn_next(token, &pool->header->unserved, fits, NULL);

    if (first && apl_turn_older(token, first, group) == first)
        serve_turns(token, group);
    apl_queue_serve(token, group);
    /* Not apl_capacity_ask(): a free place goes to the group whose turn it
     * is. */
    if (group->waiting > 0 && !token->more && apl_group_may_grow(token, group))
        apl_turn_take(token, group);
    apl_capacity_assign(token);
}

void apl_capacity_share_all(apl_lock_token_t *token)
{
    apl_pool_t *pool = token->pool;
    uint32_t i, top = pool->header->top_group;

    for (i = 1; i <= top && i < pool->n.groups; i++)
        if (pool->groups[i].state == APL_GROUP_USED)
            apl_capacity_share(token, &pool->groups[i]);
}

/* ---- abandoned requests ---- */

/* Does the process serve only abandoned requests, and would its end leave a
 * place? The end of a hung process that does not count leaves none. */
static int has_only_abandoned(const apl_process_t *p, const apl_group_t *g)
{
    return p->state == APL_PROCESS_LIVE && p->abandoned > 0 &&
           p->sessions == p->abandoned &&
           (!p->hung || g->hung > apl_hung_credit(g));
}

void apl_capacity_evict_abandoned(apl_lock_token_t *token,
                                  apl_process_t *process)
{
    apl_pool_t *pool = token->pool;
    const apl_group_t *own = apl_process_group(token, process);
    apl_group_t *g;

    if (!own || !has_only_abandoned(process, own) ||
        !apl_room_is_left(pool, NULL, 1))
        return;
    g = apl_turn_next(token, &pool->header->unserved, apl_turn_may_evict, own);
    if (g) {
        evict(token, process);
        start_for(token, g, 0);
    }
}

void apl_capacity_evict_all_abandoned(apl_lock_token_t *token)
{
    apl_pool_t *pool = token->pool;
    apl_header_t *h = pool->header;
    uint32_t i, top = apl_top(&h->top_process, pool->n.processes);

    for (i = 1; i <= top && apl_list_first(pool, &h->unserved) != 0; i++)
        if (pool->processes[i].abandoned > 0)
            apl_capacity_evict_abandoned(token, &pool->processes[i]);
}
