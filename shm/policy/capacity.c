/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/policy/capacity.h"

#include "shm/format/list.h"
#include "shm/slots/event.h"
#include "shm/slots/group.h"
#include "shm/slots/hung.h"
#include "shm/slots/process.h"
#include "shm/slots/queue.h"

/* ---- room for one more process ---- */

/* Leaving processes keep their slots until they are gone. */
static int has_slots(const apl_pool_t *pool)
{
    const apl_header_t *h = pool->header;

    return (uint64_t)h->count + h->spawning + h->leaving <
           pool->n.processes - 1;
}

int apl_capacity_is_left(const apl_pool_t *pool, const apl_group_t *group,
                         uint32_t fewer)
{
    const apl_header_t *h = pool->header;
    uint64_t all = (uint64_t)h->count + h->spawning;
    uint64_t max = apl_hung_limit(pool, group) + fewer;

    return has_slots(pool) && all - h->replacing < max && all <= max;
}

/* Is the one place above the limit free? At most one start is above the limit.
 * The try of a failing group may also find room below it. */
static int has_room_above(const apl_pool_t *pool)
{
    const apl_header_t *h = pool->header;

    return has_slots(pool) &&
           (uint64_t)h->count + h->spawning <= apl_hung_limit(pool, NULL);
}

/* ---- turns: groups that want a process while there is no room ---- */

/* The group takes its turn for the place above the limit, behind the others,
 * unless it has one. */
static void take_turn_above(apl_lock_token_t *token, apl_group_t *group)
{
    if (!apl_list_linked(&group->above))
        apl_list_append(token->pool, &token->pool->header->above,
                        &group->above);
}

/* The group waits for a place below the limit. */
static void take_turn(apl_lock_token_t *token, apl_group_t *group)
{
    apl_pool_t *pool = token->pool;
    apl_header_t *h = pool->header;

    if (!apl_list_linked(&group->turn))
        apl_list_append(pool,
                        apl_group_unserved(group) ? &h->unserved : &h->growing,
                        &group->turn);
}

/* Can a group be served now? */
typedef int fits_t(const apl_lock_token_t *token, const apl_group_t *group);

/* Is there room for one more process of the group? */
static int has_room(const apl_lock_token_t *token, const apl_group_t *group)
{
    return apl_capacity_is_left(token->pool, group, 0);
}

/* May a process of another group make room for this one? Not while the starts
 * of this group fail. And only for its first start: the others wait for free
 * places. */
static int may_evict(const apl_lock_token_t *token, const apl_group_t *group)
{
    (void)token;
    return !apl_group_fails(group) && group->spawning == 0;
}

/* The first group of a list that still wants its turn and fits. A group that
 * does not want its turn any more loses it. With may_evict(), a group whose
 * starts fail takes a turn for the place above the limit instead. So the walk
 * passes each of these groups once.
 * @param fits NULL: each group fits
 * @param but  not this group; or NULL */
static apl_group_t *next_turn(apl_lock_token_t *token, apl_link_t *list,
                              fits_t *fits, const apl_group_t *but)
{
    apl_pool_t *pool = token->pool;
    apl_walk_t it = apl_list_walk(pool, list, pool->n.groups);
    uint32_t at;

    while ((at = apl_list_next(pool, &it)) != 0) {
        apl_group_t *g = APL_GROUP_OF(pool, at, turn);

        if (!g) {
            pool->damaged = 1;
            return NULL;
        }
        if (g->waiting == 0 || !apl_group_may_grow(token, g))
            apl_list_remove(pool, &g->turn);
        else if (fits == may_evict && apl_group_fails(g)) {
            apl_list_remove(pool, &g->turn);
            take_turn_above(token, g);
        }
        else if (g != but && (!fits || fits(token, g)))
            return g;
    }
    return NULL;
}

/* Of two groups, the one whose first request came first. A group without
 * requests in its queue comes last. @param a or b: NULL is no group */
static apl_group_t *older(apl_lock_token_t *token, apl_group_t *a,
                          apl_group_t *b)
{
    const apl_session_t *sa = a ? apl_queue_head(token, a) : NULL;
    const apl_session_t *sb = b ? apl_queue_head(token, b) : NULL;

    if (!sa || !sb)
        return sa ? a : b;
    return sb->ticket < sa->ticket ? b : a;
}

/* Does another group that has a turn wait for longer than this one? */
static int is_behind(apl_lock_token_t *token, apl_group_t *group)
{
    apl_header_t *h = token->pool->header;
    apl_group_t *first = next_turn(token, &h->unserved, NULL, NULL);

    first = older(token, first, next_turn(token, &h->growing, has_room, NULL));
    return first && first != group && older(token, first, group) == first;
}

/* ---- a process makes room ---- */

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
        take_turn(token, g);
}

/* End a process to make room for the newcomer. @param freed the group of which
 * a process became free, or NULL. @return 0: no process can leave */
static int make_room(apl_lock_token_t *token, const apl_group_t *newcomer,
                     const apl_group_t *freed)
{
    apl_process_t *p;

    if (!apl_capacity_is_left(token->pool, NULL, 1))
        return 0;
    p = idle_to_evict(token, newcomer, apl_group_unserved(newcomer));
    if (!p)
        p = busy_to_evict(token, freed, newcomer);
    if (!p)
        return 0;
    evict(token, p);
    return 1;
}

/* ---- a place for a group ---- */

void apl_capacity_ask(apl_lock_token_t *token, apl_group_t *group)
{
    if (!apl_group_may_grow(token, group))
        return;
    if (apl_capacity_is_left(token->pool, group, 0) && !is_behind(token, group))
        apl_process_reserve(token, group, 0);
    else if (group->waiting > 0)
        take_turn(token, group);
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
    if (!apl_capacity_is_left(token->pool, group, 0) &&
        (!may_evict(token, group) || !make_room(token, group, NULL)))
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

    if (apl_capacity_is_left(token->pool, NULL, 0))
        return older(token, next_turn(token, &h->unserved, NULL, NULL),
                     next_turn(token, &h->growing, has_room, NULL));
    g = next_turn(token, &h->unserved, may_evict, NULL);
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
        take_turn(token, group);
    return 1;
}

/* ---- the place above the limit ---- */

/* Does the group have an outdated process that may be replaced now? */
static int may_replace(const apl_lock_token_t *token, const apl_group_t *group)
{
    uint32_t max = group->options.max_instances;

    return group->outdated > 0 && group->spawning == 0 &&
           apl_group_may_start(token, group) &&
           (max == 0 || group->size <= max + apl_hung_credit(group));
}

static int may_try(const apl_lock_token_t *token, const apl_group_t *group)
{
    return apl_group_fails(group) && group->waiting > 0 &&
           apl_group_unserved(group) && apl_group_may_grow(token, group);
}

/* The next group for the place above the limit. A group that may not start a
 * process now loses its turn, so the walk passes each of them once. The end of
 * its start or of its pause, or the tick, gives the group a new turn. */
static apl_group_t *next_above(apl_lock_token_t *token)
{
    apl_pool_t *pool = token->pool;
    apl_walk_t it = apl_list_walk(pool, &pool->header->above, pool->n.groups);
    uint32_t at;

    while ((at = apl_list_next(pool, &it)) != 0) {
        apl_group_t *g = APL_GROUP_OF(pool, at, above);

        if (!g) {
            pool->damaged = 1;
            return NULL;
        }
        if (may_replace(token, g) || may_try(token, g))
            return g;
        apl_list_remove(pool, &g->above);
    }
    return NULL;
}

static void serve_above(apl_lock_token_t *token)
{
    apl_group_t *g;

    while (token->turns > 0 && has_room_above(token->pool) &&
           (g = next_above(token)) != NULL) {
        token->turns--;
        if (!start_for(token, g, may_replace(token, g) || !has_room(token, g)))
            return;
    }
}

void apl_capacity_replace_outdated(apl_lock_token_t *token, apl_group_t *group)
{
    if (group->outdated > 0)
        take_turn_above(token, group);
    serve_above(token);
}

void apl_capacity_end_excess(apl_lock_token_t *token, const apl_group_t *group)
{
    apl_process_t *p =
        apl_hung_exceeded(token->pool) ? idle_to_evict(token, group, 1) : NULL;

    if (p)
        evict(token, p);
}

/* ---- which group gets the room ---- */

/* Serve turns while there is room. @param freed as of make_room() */
static void serve_turns(apl_lock_token_t *token, const apl_group_t *freed)
{
    apl_group_t *g;

    /* A group has a bounded number of starts at a time, so this ends. If
     * another process keeps writing that a group has no start, token->turns
     * ends it. */
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
    fits_t *fits = apl_capacity_is_left(pool, NULL, 0) ? NULL : may_evict;
    apl_group_t *first = next_turn(token, &pool->header->unserved, fits, NULL);

    if (first && older(token, first, group) == first)
        serve_turns(token, group);
    apl_queue_serve(token, group);
    /* Not apl_capacity_ask(): a free place goes to the group whose turn it
     * is. */
    if (group->waiting > 0 && !token->more && apl_group_may_grow(token, group))
        take_turn(token, group);
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
        !apl_capacity_is_left(pool, NULL, 1))
        return;
    g = next_turn(token, &pool->header->unserved, may_evict, own);
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
