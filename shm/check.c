/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "shm/group.h"
#include "shm/heap.h"
#include "shm/hung.h"
#include "shm/list.h"
#include "shm/room.h"

/* A check works on a handle of its own: walking a damaged list marks the
 * handle, not the caller's. */
typedef struct {
    apl_pool_t pool;
    apl_finding_t *finding;
    /* Sums over all groups. */
    uint32_t count, active, spawning, waiting, idle, hung, credit;
} audit_t;

__attribute__((format(printf, 3, 4))) static int found(audit_t *a, int number,
                                                       const char *format, ...)
{
    va_list args;

    a->finding->number = number;
    va_start(args, format);
    vsnprintf(a->finding->text, sizeof a->finding->text, format, args);
    va_end(args);
    return 0;
}

/* Is the list circular in both directions? Its length, or -1. */
static int64_t length(audit_t *a, const apl_link_t *head, uint32_t bound)
{
    apl_pool_t *pool = &a->pool;
    uint32_t prev = APL_OFFSET(pool, head), at;
    apl_walk_t it = apl_list_walk(pool, head, bound);
    int64_t n = 0;

    pool->damaged = 0;
    while ((at = apl_list_next(pool, &it)) != 0) {
        if (apl_link_at(pool, at)->prev != prev)
            return -1;
        prev = at;
        n++;
    }
    return pool->damaged || head->prev != prev ? -1 : n;
}

/* Processes in the heap below `root`, their order and parents right; or -1. */
static int64_t heap_size(audit_t *a, const apl_group_t *g)
{
    apl_pool_t *pool = &a->pool;
    uint32_t i = g->order, from = 0, left = 4 * pool->n.processes;
    int64_t n = 0;

    /* Up and down by the parents' references, without a stack. */
    while (i != 0 && left-- > 0) {
        const apl_process_t *p = apl_process_at(pool, i);
        const apl_process_t *above;

        if (!p || p->state != APL_PROCESS_LIVE || p->sessions == 0 ||
            p->sessions >= apl_group_limit(g) ||
            p->group != APL_GROUP_INDEX(pool, g))
            return -1;
        above = apl_process_at(pool, p->node.parent);
        if ((above == NULL) != (i == g->order) ||
            (above && !apl_heap_before(above, p)))
            return -1;
        if (from == p->node.parent) {
            n++;
            from = i;
            i = p->node.left    ? p->node.left
                : p->node.right ? p->node.right
                                : p->node.parent;
        }
        else if (from == p->node.left && p->node.right) {
            from = i;
            i = p->node.right;
        }
        else {
            from = i;
            i = p->node.parent;
        }
    }
    return i == 0 ? n : -1;
}

/* What the slots say of a group. */
typedef struct {
    uint32_t live, idle, spawning, waiting, room, outdated, hung, marked,
        zombies;
} truth_t;

static truth_t truth_of(const apl_pool_t *pool, const apl_group_t *g)
{
    const apl_header_t *h = pool->header;
    uint32_t self = APL_GROUP_INDEX(pool, g), i;
    truth_t t = {0};

    for (i = 1; i <= apl_top(&h->top_process, pool->n.processes); i++) {
        const apl_process_t *p = &pool->processes[i];

        if (p->group != self)
            continue;
        if (p->state == APL_PROCESS_LIVE) {
            t.live++;
            t.idle += p->sessions == 0;
            t.outdated += (uint32_t)apl_group_outdated(g, p);
            t.hung += p->hung != 0 && p->sessions > 0;
            t.marked += p->hung != 0;
            t.room += apl_group_shares(g) && p->sessions > 0 &&
                      p->sessions < apl_group_limit(g);
        }
        t.zombies += p->state == APL_PROCESS_LEAVING && p->zombie != 0;
        t.spawning +=
            p->state == APL_PROCESS_WANTED || p->state == APL_PROCESS_STARTING;
    }
    for (i = 1; i <= apl_top(&h->top_session, pool->n.sessions); i++)
        t.waiting += pool->sessions[i].state == APL_SESSION_WAITING &&
                     pool->sessions[i].group == self;
    return t;
}

static int queue_in_order(audit_t *a, const apl_group_t *g)
{
    apl_pool_t *pool = &a->pool;
    apl_walk_t it = apl_list_walk(pool, &g->queue, pool->n.sessions);
    uint64_t last = 0;
    uint32_t at;

    while ((at = apl_list_next(pool, &it)) != 0) {
        const apl_session_t *s = APL_SESSION_OF(pool, at, link);

        if (!s || s->state != APL_SESSION_WAITING || s->ticket < last)
            return 0;
        last = s->ticket;
    }
    return 1;
}

static int members(audit_t *a, const apl_group_t *g)
{
    apl_pool_t *pool = &a->pool;
    apl_walk_t it = apl_list_walk(pool, &g->processes, pool->n.processes);
    uint32_t self = APL_GROUP_INDEX(pool, g), at;

    while ((at = apl_list_next(pool, &it)) != 0) {
        const apl_process_t *p = APL_PROCESS_OF(pool, at, member);

        if (!p || p->state != APL_PROCESS_LIVE || p->group != self)
            return 0;
    }
    it = apl_list_walk(pool, &g->idle, pool->n.processes);
    while ((at = apl_list_next(pool, &it)) != 0) {
        const apl_process_t *p = APL_PROCESS_OF(pool, at, idle);

        if (!p || p->state != APL_PROCESS_LIVE || p->group != self ||
            p->sessions != 0)
            return 0;
    }
    return 1;
}

static int is_found(audit_t *a, const apl_group_t *g)
{
    return memchr(g->name, 0, sizeof g->name) != NULL &&
           apl_group_index(&a->pool, apl_group_key(g->name), g->name) ==
               APL_GROUP_INDEX(&a->pool, g);
}

static int check_group(audit_t *a, const apl_group_t *g)
{
    apl_pool_t *pool = &a->pool;
    uint32_t n = pool->n.processes;
    truth_t t = truth_of(pool, g);

    if (!is_found(a, g))
        return found(a, 1, "group %.80s is not found by its name", g->name);
    if (length(a, &g->processes, n) < 0 || length(a, &g->idle, n) < 0 ||
        length(a, &g->queue, pool->n.sessions) < 0)
        return found(a, 18, "a list of group %.80s is torn", g->name);
    if (!members(a, g))
        return found(a, 1, "a stranger is in a list of group %.80s", g->name);
    if (length(a, &g->processes, n) != t.live || g->size != t.live)
        return found(a, 4, "group %.80s: size %u, but %u live", g->name,
                     g->size, t.live);
    if (length(a, &g->idle, n) != t.idle || heap_size(a, g) != t.room)
        return found(a, 3, "group %.80s: idle or order is wrong", g->name);
    if (g->spawning != t.spawning)
        return found(a, 6, "group %.80s: spawning %u, but %u", g->name,
                     g->spawning, t.spawning);
    if (g->outdated != t.outdated)
        return found(a, 21, "group %.80s: outdated %u, but %u", g->name,
                     g->outdated, t.outdated);
    if (g->hung != t.hung || t.marked != t.hung)
        return found(a, 22, "group %.80s: hung %u, but %u of %u marked",
                     g->name, g->hung, t.hung, t.marked);
    if (g->zombies != t.zombies)
        return found(a, 23, "group %.80s: zombies %u, but %u", g->name,
                     g->zombies, t.zombies);
    if (g->waiting != t.waiting ||
        length(a, &g->queue, pool->n.sessions) != t.waiting ||
        !queue_in_order(a, g))
        return found(a, 14, "group %.80s: queue of %u, but %u wait", g->name,
                     g->waiting, t.waiting);
    if (t.waiting > 0 && t.idle + t.room > 0)
        return found(a, 19, "group %.80s: %u wait for what is there", g->name,
                     t.waiting);
    a->count += t.live;
    a->active += t.live - t.idle;
    a->idle += t.idle;
    a->spawning += t.spawning;
    a->waiting += t.waiting;
    a->hung += t.hung;
    a->credit += apl_hung_credit(g);
    return 1;
}

static int check_processes(audit_t *a)
{
    apl_pool_t *pool = &a->pool;
    const apl_header_t *h = pool->header;
    uint32_t i, j, leaving = 0, wanted = 0, unused = 0, replacing = 0, left = 0;

    for (i = 1; i <= apl_top(&h->top_process, pool->n.processes); i++) {
        const apl_process_t *p = &pool->processes[i];
        uint32_t held = 0, abandoned = 0;

        leaving += p->state == APL_PROCESS_LEAVING;
        wanted += p->state == APL_PROCESS_WANTED;
        unused += p->state == APL_PROCESS_FREE;
        replacing += p->replaces != 0 && (p->state == APL_PROCESS_WANTED ||
                                          p->state == APL_PROCESS_STARTING);
        if (p->state < APL_PROCESS_LIVE)
            continue;
        for (j = 1; j <= apl_top(&h->top_session, pool->n.sessions); j++) {
            const apl_session_t *s = &pool->sessions[j];

            if (s->state != APL_SESSION_HELD || s->process != i ||
                s->process_generation != p->generation)
                continue;
            held++;
            abandoned += s->owner == 0;
        }
        left += abandoned;
        if (p->abandoned != abandoned)
            return found(a, 24, "process %u: %u abandoned, but %u are", i,
                         p->abandoned, abandoned);
        if (p->sessions != held)
            return found(a, 10, "process %u: %u sessions, but %u are held", i,
                         p->sessions, held);
        if (p->state == APL_PROCESS_LEAVING &&
            (apl_list_linked(&p->member) || apl_list_linked(&p->idle)))
            return found(a, 5, "process %u leaves, but is in its group", i);
    }
    if (length(a, &h->leavers, pool->n.processes) != leaving ||
        h->leaving != leaving)
        return found(a, 18, "leaving %u, but %u leave", h->leaving, leaving);
    if (h->abandoned != left)
        return found(a, 24, "abandoned %u, but %u are", h->abandoned, left);
    if (h->replacing != replacing)
        return found(a, 21, "replacing %u, but %u", h->replacing, replacing);
    if (length(a, &h->wanted, pool->n.processes) != wanted)
        return found(a, 18, "the list of %u wanted ones is wrong", wanted);
    if (length(a, &h->processes_free, pool->n.processes) != unused)
        return found(a, 18, "%u processes are free, not all listed", unused);
    return 1;
}

/* Without an owner: has it at least a process? */
static int is_abandoned(const apl_pool_t *pool, const apl_session_t *s)
{
    const apl_process_t *p = apl_process_at(pool, s->process);

    return s->state == APL_SESSION_HELD && p && p->state >= APL_PROCESS_LIVE &&
           p->generation == s->process_generation;
}

static int check_sessions(audit_t *a)
{
    apl_pool_t *pool = &a->pool;
    const apl_header_t *h = pool->header;
    uint32_t i, unused = 0;

    for (i = 1; i <= apl_top(&h->top_session, pool->n.sessions); i++) {
        const apl_session_t *s = &pool->sessions[i];
        const apl_child_t *c = apl_child_at(pool, s->owner);
        const apl_group_t *g = apl_group_at(pool, s->group);

        if (s->state == APL_SESSION_FREE) {
            unused++;
            continue;
        }
        if (s->owner == 0 ? !is_abandoned(pool, s)
                          : !c || c->state != APL_CHILD_USED)
            return found(a, 17, "session %u has no owner", i);
        if (!g || g->state != APL_GROUP_USED)
            return found(a, 17, "session %u has no group", i);
    }
    if (length(a, &h->sessions_free, pool->n.sessions) != unused)
        return found(a, 18, "%u sessions are free, not all listed", unused);
    return 1;
}

static int check_sums(audit_t *a)
{
    const apl_header_t *h = a->pool.header;

    if (h->count != a->count)
        return found(a, 9, "count %u, but %u live", h->count, a->count);
    if (h->active != a->active || h->active > h->count)
        return found(a, 8, "active %u, but %u busy", h->active, a->active);
    if (length(a, &h->inactive, a->pool.n.processes) != a->idle)
        return found(a, 8, "the list of %u inactive ones is wrong", a->idle);
    if (h->spawning != a->spawning)
        return found(a, 16, "spawning %u, but %u", h->spawning, a->spawning);
    if (h->waiting != a->waiting)
        return found(a, 14, "waiting %u, but %u", h->waiting, a->waiting);
    if (h->hung != a->hung || h->credit != a->credit)
        return found(a, 22, "hung %u with credit %u, but %u with %u", h->hung,
                     h->credit, a->hung, a->credit);
    if (length(a, &h->starved, a->pool.n.groups) < 0 ||
        length(a, &h->hungry, a->pool.n.groups) < 0)
        return found(a, 18, "a list of turns is torn");
    return 1;
}

/* Does everybody who waits have a reason to? */
static int check_turns(audit_t *a)
{
    apl_pool_t *pool = &a->pool;
    const apl_header_t *h = pool->header;
    uint32_t i;

    for (i = 1; i <= apl_top(&h->top_group, pool->n.groups); i++) {
        const apl_group_t *g = &pool->groups[i];

        if (g->state != APL_GROUP_USED || g->waiting == 0 || g->spawning > 0 ||
            g->failures > 0 || apl_group_closed(g) || apl_group_haunted(g) ||
            apl_group_at_limit(g) || !apl_group_starves(g))
            continue;
        if (!apl_list_linked(&g->turn))
            return found(a, 20, "group %.80s waits without a turn", g->name);
        if (apl_room_left(pool, g, 0) ||
            (apl_room_left(pool, NULL, 1) && a->idle > 0))
            return found(a, 20, "group %.80s waits without need", g->name);
    }
    return 1;
}

int apl_check(const apl_pool_t *pool, apl_finding_t *finding)
{
    audit_t a = {.pool = *pool, .finding = finding};
    uint32_t i;

    finding->number = 0;
    finding->text[0] = 0;
    for (i = 1; i <= apl_top(&pool->header->top_group, pool->n.groups); i++)
        if (pool->groups[i].state == APL_GROUP_USED &&
            !check_group(&a, &pool->groups[i]))
            return 0;
    return check_sums(&a) && check_turns(&a) && check_processes(&a) &&
           check_sessions(&a);
}
