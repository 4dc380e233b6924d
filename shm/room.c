/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/room.h"

#include "shm/event.h"
#include "shm/group.h"
#include "shm/hung.h"
#include "shm/list.h"
#include "shm/process.h"
#include "shm/queue.h"

int apl_room_left(const apl_pool_t *pool, const apl_group_t *group,
                  uint32_t fewer)
{
    const apl_header_t *h = pool->header;
    uint64_t all = (uint64_t)h->count + h->spawning;
    uint64_t max = (uint64_t)h->max + h->stand_ins + fewer;

    if (group && apl_hung_has_credit(group))
        max++;
    return all + h->leaving < pool->n.processes - 1 &&
           all - h->replacing < max && all <= max;
}

static void take_turn(apl_held_t *held, apl_group_t *group)
{
    apl_pool_t *pool = held->pool;
    apl_header_t *h = pool->header;

    if (!apl_list_linked(&group->turn))
        apl_list_append(pool,
                        apl_group_starves(group) ? &h->starved : &h->hungry,
                        &group->turn);
}

void apl_room_replace(apl_held_t *held, apl_group_t *group)
{
    const apl_header_t *h = held->pool->header;
    uint32_t max = group->options.max_instances;

    if (group->outdated > 0 && apl_group_may_start(held, group) &&
        (max == 0 || group->size <= max + apl_hung_credit(group)) &&
        h->count + h->spawning <= h->max + h->stand_ins)
        apl_process_reserve(held, group, 1, 0);
}

/* The first group of a list that still wants its turn.
 * @param own 1: of those that have credit of their own
 * @param but not this one; may be NULL */
static apl_group_t *next_turn(apl_held_t *held, apl_link_t *list, int own,
                              const apl_group_t *but)
{
    apl_pool_t *pool = held->pool;
    apl_walk_t it = apl_list_walk(pool, list, pool->n.groups);
    uint32_t at;

    while ((at = apl_list_next(pool, &it)) != 0) {
        apl_group_t *g = APL_GROUP_OF(pool, at, turn);

        if (!g) {
            pool->damaged = 1;
            return NULL;
        }
        if (g->waiting > 0 && apl_group_may_grow(held, g)) {
            if (g != but && (!own || apl_room_left(pool, g, 0)))
                return g;
        }
        else if (!own)
            apl_list_remove(pool, &g->turn);
    }
    return NULL;
}

/* Who came first? A group without waiters came last. */
static apl_group_t *older(apl_held_t *held, apl_group_t *a, apl_group_t *b)
{
    const apl_session_t *sa = a ? apl_queue_head(held, a) : NULL;
    const apl_session_t *sb = b ? apl_queue_head(held, b) : NULL;

    if (!sa || !sb)
        return sa ? a : b;
    return sb->ticket < sa->ticket ? b : a;
}

/* A stand-in is for those who wait for it: its place is none of the pool's. */
static int is_needed(const apl_group_t *group, const apl_process_t *process)
{
    return process->stands_in == process->group && group->waiting > 0;
}

int apl_room_forsaken(const apl_pool_t *pool, const apl_process_t *process)
{
    const apl_group_t *g = apl_group_at(pool, process->group);

    return process->state == APL_PROCESS_LIVE && process->abandoned > 0 &&
           process->sessions == process->abandoned && g &&
           (!process->hung || apl_hung_spares(g));
}

/* One with requests, but nobody waits for any of them: the one that was used
 * longest ago. */
static apl_process_t *forsaken(const apl_held_t *held,
                               const apl_group_t *newcomer)
{
    apl_pool_t *pool = held->pool;
    apl_header_t *h = pool->header;
    uint32_t i, top = h->abandoned > 0 ? h->top_process : 0;
    apl_process_t *found = NULL;

    for (i = 1; i <= top && i < pool->n.processes; i++) {
        apl_process_t *p = &pool->processes[i];

        if (apl_room_forsaken(pool, p) &&
            p->group != APL_GROUP_INDEX(pool, newcomer) &&
            (!found || p->last_used < found->last_used ||
             (p->last_used == found->last_used && p->birth < found->birth)))
            found = p;
    }
    return found;
}

/* The process that gives way to a newcomer: the longest idle one of a group
 * above its minimum; else, for one that starves, the longest idle one, as a
 * minimum must not lock another app out, nor may what hangs. A walk, but only
 * where a process is about to be started. */
static apl_process_t *victim(apl_held_t *held, const apl_group_t *newcomer)
{
    apl_pool_t *pool = held->pool;
    apl_walk_t it;
    apl_process_t *second = NULL;
    uint32_t at;

    it = apl_list_walk(pool, &pool->header->inactive, pool->n.processes);
    while ((at = apl_list_next(pool, &it)) != 0) {
        apl_process_t *p = APL_PROCESS_OF(pool, at, pool);
        const apl_group_t *g = p ? apl_process_group(held, p) : NULL;

        if (!g || g == newcomer || is_needed(g, p))
            continue;
        if (g->size > g->options.min_instances)
            return p;
        if (!second && apl_group_starves(newcomer))
            second = p;
    }
    return second || !apl_group_starves(newcomer) ? second
                                                  : forsaken(held, newcomer);
}

/* A busy one gives way: that of the fewest sessions. Its open ones go on. One
 * that is hung takes no room that it could give. */
static apl_process_t *shared_victim(apl_held_t *held, const apl_group_t *of,
                                    const apl_group_t *newcomer)
{
    apl_process_t *p;

    if (!of || of == newcomer || !apl_group_shares(of) || of->order == 0)
        return NULL;
    p = apl_process_at(held->pool, of->order);
    return p && p->state == APL_PROCESS_LIVE && !p->hung && !is_needed(of, p)
               ? p
               : NULL;
}

/* Somebody gives way to the newcomer. @return who, or NULL: nobody can */
static const apl_process_t *make_room(apl_held_t *held,
                                      const apl_group_t *newcomer,
                                      const apl_group_t *freed)
{
    apl_process_t *p;
    apl_group_t *g;

    if (!apl_room_left(held->pool, NULL, 1))
        return NULL;
    p = victim(held, newcomer);
    if (!p)
        p = shared_victim(held, freed, newcomer);
    if (!p)
        return NULL;
    apl_process_leave(held, p, APL_EVENT_EVICTED);
    held->pool->header->counters.evicted++;
    /* It may have been at its own limit, and may start another one now. */
    g = apl_process_group(held, p);
    if (g && g->waiting > 0 && apl_group_may_grow(held, g))
        take_turn(held, g);
    return p;
}

/* Start one of a group: in a place below the limit, on its own credit, or where
 * the one stood that gave way for it. @return 0: no slot is free */
static int start(apl_held_t *held, apl_group_t *group,
                 const apl_process_t *gone)
{
    const apl_pool_t *pool = held->pool;
    uint32_t stands_in = gone ? gone->stands_in : 0;

    if (apl_room_left(pool, NULL, 0))
        stands_in = 0;
    else if (apl_room_left(pool, group, 0))
        stands_in = APL_GROUP_INDEX(pool, group);
    return apl_process_reserve(held, group, 0, stands_in) != NULL;
}

void apl_room_want(apl_held_t *held, apl_group_t *group)
{
    const apl_pool_t *pool = held->pool;

    if (!apl_group_may_grow(held, group))
        return;
    if (apl_room_left(pool, NULL, 0))
        start(held, group, NULL);
    else if (group->waiting > 0)
        take_turn(held, group);
    else if (apl_room_left(pool, group, 0))
        start(held, group, make_room(held, group, NULL));
}

void apl_room_keep(apl_held_t *held, apl_group_t *group)
{
    if (group->used && group->size < group->options.min_instances)
        apl_room_want(held, group);
}

/* The next to have a process, and there is room for it: a free place; else
 * that of one that gives way to a group that starves; else its own credit.
 * @param gone who gave way, or NULL: filled in */
static apl_group_t *next_served(apl_held_t *held, const apl_group_t *freed,
                                const apl_process_t **gone)
{
    apl_header_t *h = held->pool->header;
    apl_group_t *starved = next_turn(held, &h->starved, 0, NULL);
    apl_group_t *first =
        older(held, starved, next_turn(held, &h->hungry, 0, NULL));
    apl_group_t *other;

    *gone = NULL;
    if (!first || apl_room_left(held->pool, NULL, 0))
        return first;
    if (starved && (*gone = make_room(held, starved, freed)) != NULL)
        return starved;
    /* What is forsaken may all be its own. */
    other = starved && h->abandoned > 0
                ? next_turn(held, &h->starved, 0, starved)
                : NULL;
    if (other && (*gone = make_room(held, other, freed)) != NULL)
        return other;
    if (h->stand_ins >= h->credit)
        return NULL;
    first = older(held, next_turn(held, &h->starved, 1, NULL),
                  next_turn(held, &h->hungry, 1, NULL));
    if (first)
        *gone = make_room(held, first, NULL);
    return first;
}

/* @param freed the group of which a place became free, or NULL */
static void settle(apl_held_t *held, const apl_group_t *freed)
{
    uint32_t left = 2 * held->pool->n.groups;
    const apl_process_t *gone;
    apl_group_t *g;

    while (left-- > 0 && (g = next_served(held, freed, &gone)) != NULL) {
        apl_list_remove(held->pool, &g->turn);
        if (!start(held, g, gone))
            return;
    }
}

void apl_room_settle(apl_held_t *held)
{
    settle(held, NULL);
}

void apl_room_share(apl_held_t *held, apl_group_t *group)
{
    apl_group_t *starved =
        next_turn(held, &held->pool->header->starved, 0, NULL);

    if (starved && older(held, starved, group) == starved)
        settle(held, group);
    apl_queue_serve(held, group);
    /* Not apl_room_want(): a place that is free goes to whose turn it is. */
    if (group->waiting > 0 && !held->more && apl_group_may_grow(held, group))
        take_turn(held, group);
    apl_room_settle(held);
}

void apl_room_share_all(apl_held_t *held)
{
    apl_pool_t *pool = held->pool;
    uint32_t i, top = pool->header->top_group;

    for (i = 1; i <= top && i < pool->n.groups; i++)
        if (pool->groups[i].state == APL_GROUP_USED)
            apl_room_share(held, &pool->groups[i]);
}
