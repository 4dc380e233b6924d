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
    uint64_t max = (uint64_t)h->max + fewer;

    if (fewer > 0 || (group && apl_hung_short(group)))
        max += h->credit;
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

void apl_room_want(apl_held_t *held, apl_group_t *group)
{
    /* For those somebody may give way, which goes before credit. */
    int starves = group->waiting > 0 && apl_group_starves(group);

    if (!apl_group_may_grow(held, group))
        return;
    if (apl_room_left(held->pool, starves ? NULL : group, 0))
        apl_process_reserve(held, group, 0);
    else if (group->waiting > 0)
        take_turn(held, group);
}

void apl_room_replace(apl_held_t *held, apl_group_t *group)
{
    const apl_header_t *h = held->pool->header;
    uint32_t max = group->options.max_instances;

    if (group->outdated > 0 && apl_group_may_start(held, group) &&
        (max == 0 || group->size <= max + apl_hung_credit(group)) &&
        h->count + h->spawning <= h->max + h->credit)
        apl_process_reserve(held, group, 1);
}

/* The first group of a list that still wants its turn. */
static apl_group_t *next_turn(apl_held_t *held, apl_link_t *list)
{
    apl_pool_t *pool = held->pool;
    uint32_t at, left = pool->n.groups;

    while ((at = apl_list_first(pool, list)) != 0 && left-- > 0) {
        apl_group_t *g = APL_GROUP_OF(pool, at, turn);

        if (!g) {
            pool->damaged = 1;
            return NULL;
        }
        if (g->waiting > 0 && apl_group_may_grow(held, g))
            return g;
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

/* The process that gives way to a newcomer: the longest idle one of a group
 * above its minimum; else the longest idle one, as a minimum must not lock
 * another app out. A walk, but only where a process is about to be started. */
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

        if (!g || g == newcomer)
            continue;
        if (g->size > g->options.min_instances)
            return p;
        if (!second)
            second = p;
    }
    return second;
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
    return p && p->state == APL_PROCESS_LIVE && !p->hung ? p : NULL;
}

/* Somebody gives way to the newcomer. @return 0: nobody can */
static int make_room(apl_held_t *held, const apl_group_t *newcomer,
                     const apl_group_t *freed)
{
    apl_process_t *p;

    if (!apl_room_left(held->pool, newcomer, 1))
        return 0;
    p = victim(held, newcomer);
    if (!p)
        p = shared_victim(held, freed, newcomer);
    if (!p)
        return 0;
    apl_process_leave(held, p, APL_EVENT_EVICTED);
    held->pool->header->counters.evicted++;
    return 1;
}

/* The next to have a process, and there is room for it: a free place; else
 * that of one that gives way to a group that starves; else credit. */
static apl_group_t *next_served(apl_held_t *held, const apl_group_t *freed)
{
    apl_header_t *h = held->pool->header;
    apl_group_t *starved = next_turn(held, &h->starved);
    apl_group_t *first = older(held, starved, next_turn(held, &h->hungry));

    if (!first || apl_room_left(held->pool, NULL, 0))
        return first;
    if (starved && make_room(held, starved, freed))
        return starved;
    if (apl_room_left(held->pool, first, 0))
        return first;
    return starved && apl_room_left(held->pool, starved, 0) ? starved : NULL;
}

/* @param freed the group of which a place became free, or NULL */
static void settle(apl_held_t *held, const apl_group_t *freed)
{
    uint32_t left = 2 * held->pool->n.groups;
    apl_group_t *g;

    while (left-- > 0 && (g = next_served(held, freed)) != NULL) {
        apl_list_remove(held->pool, &g->turn);
        if (!apl_process_reserve(held, g, 0))
            return;
    }
}

void apl_room_settle(apl_held_t *held)
{
    settle(held, NULL);
}

void apl_room_share(apl_held_t *held, apl_group_t *group)
{
    apl_group_t *starved = next_turn(held, &held->pool->header->starved);

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
