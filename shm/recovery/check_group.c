/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/recovery/check_group.h"

#include <string.h>

#include "shm/slots/group.h"
#include "shm/slots/hung.h"
#include "shm/format/list.h"

#define LOOK_UP_STEPS 64 /* steps that a look-up by name counts for */

/* ---- what may be in a list of a group ---- */

static const apl_process_t *inside(const apl_process_t *p, uint32_t state,
                                   uint32_t group)
{
    return p && p->state == state && p->group == group ? p : NULL;
}

static int is_live(apl_check_list_t *walk, const apl_pool_t *pool,
                   const void *group, uint32_t at)
{
    (void)walk;
    return inside(APL_PROCESS_OF(pool, at, member), APL_PROCESS_LIVE,
                  APL_GROUP_INDEX(pool, (const apl_group_t *)group)) != NULL;
}

static int is_idle(apl_check_list_t *walk, const apl_pool_t *pool,
                   const void *group, uint32_t at)
{
    const apl_process_t *p =
        inside(APL_PROCESS_OF(pool, at, idle), APL_PROCESS_LIVE,
               APL_GROUP_INDEX(pool, (const apl_group_t *)group));

    (void)walk;
    return p && p->sessions == 0;
}

/* The next waiter: tickets go up. */
static int is_next(apl_check_list_t *walk, const apl_pool_t *pool,
                   const void *group, uint32_t at)
{
    const apl_session_t *s = APL_SESSION_OF(pool, at, link);
    uint64_t last = walk->last;

    if (!s || s->state != APL_SESSION_WAITING || s->ticket < last ||
        s->group != APL_GROUP_INDEX(pool, (const apl_group_t *)group))
        return 0;
    walk->last = s->ticket;
    return 1;
}

/* ---- what is looked at of a group ---- */

static int check_name(apl_check_t *a, const apl_group_t *g)
{
    a->left -= a->left < LOOK_UP_STEPS ? a->left : LOOK_UP_STEPS;
    if (memchr(g->name, 0, sizeof g->name) == NULL ||
        apl_group_index(&a->pool, apl_group_key(g->name), g->name) !=
            APL_GROUP_INDEX(&a->pool, g))
        return apl_check_state_found(
            a, 1, "group %.80s is not found by its name", g->name);
    return APL_PART_DONE;
}

/* The next link in the bucket links back, and it belongs to another group or is
 * the head of the bucket. check_name() has found the group from the head, and
 * check.c checks the heads. So the buckets are whole. */
static int check_bucket(apl_check_t *a, const apl_group_t *g)
{
    apl_pool_t *pool = &a->pool;
    uint32_t at = g->bucket.next;
    const apl_group_t *next = APL_GROUP_OF(pool, at, bucket);

    if (apl_link_at(pool, at)->prev != APL_OFFSET(pool, &g->bucket))
        return apl_check_state_found(a, 18, "the bucket of group %.80s is torn",
                                     g->name);
    if (next ? next->state != APL_GROUP_USED
             : at != APL_OFFSET(pool, apl_group_bucket(pool, g->key)))
        return apl_check_state_found(
            a, 1, "a stranger is in the bucket of group %.80s", g->name);
    return APL_PART_DONE;
}

/* Report what a walk along a list of a group has found, except its length. */
static int report_walk(apl_check_t *a, const apl_group_t *g, int verdict)
{
    if (verdict == APL_CHECK_LIST_TORN)
        return apl_check_state_found(a, 18, "a list of group %.80s is torn",
                                     g->name);
    if (verdict == APL_CHECK_LIST_STRANGER)
        return apl_check_state_found(
            a, 1, "a stranger is in a list of group %.80s", g->name);
    return verdict == APL_CHECK_LIST_MORE ? APL_PART_LATER : APL_PART_DONE;
}

static int check_members(apl_check_t *a, const apl_group_t *g,
                         const apl_tally_group_t *t)
{
    int verdict = apl_check_state_walk(a, &g->processes, t->live, is_live, g);

    if (verdict == APL_CHECK_LIST_LENGTH ||
        (verdict == APL_CHECK_LIST_GOOD && g->size != t->live))
        return apl_check_state_found(a, 4, "group %.80s: size %u, but %u live",
                                     g->name, g->size, t->live);
    return report_walk(a, g, verdict);
}

static int check_idle(apl_check_t *a, const apl_group_t *g,
                      const apl_tally_group_t *t)
{
    int verdict = apl_check_state_walk(a, &g->idle, t->idle, is_idle, g);

    if (verdict == APL_CHECK_LIST_LENGTH)
        return apl_check_state_found(
            a, 3, "group %.80s: %u idle, not all listed", g->name, t->idle);
    return report_walk(a, g, verdict);
}

static int check_order(apl_check_t *a, const apl_group_t *g,
                       const apl_tally_group_t *t)
{
    int verdict =
        apl_check_list_walk_heap(&a->walk, &a->pool, g, t->room, &a->left);

    if (verdict > APL_CHECK_LIST_GOOD)
        return apl_check_state_found(
            a, 3, "group %.80s: the order of %u is wrong", g->name, t->room);
    return verdict == APL_CHECK_LIST_MORE ? APL_PART_LATER : APL_PART_DONE;
}

static int check_queue(apl_check_t *a, const apl_group_t *g,
                       const apl_tally_group_t *t)
{
    int verdict = apl_check_state_walk(a, &g->queue, t->waiting, is_next, g);

    if (verdict == APL_CHECK_LIST_LENGTH ||
        verdict == APL_CHECK_LIST_STRANGER ||
        (verdict == APL_CHECK_LIST_GOOD && g->waiting != t->waiting))
        return apl_check_state_found(a, 14,
                                     "group %.80s: queue of %u, but %u wait",
                                     g->name, g->waiting, t->waiting);
    return report_walk(a, g, verdict);
}

static int check_counts(apl_check_t *a, const apl_group_t *g,
                        const apl_tally_group_t *t)
{
    if (g->spawning != t->spawning)
        return apl_check_state_found(a, 6, "group %.80s: spawning %u, but %u",
                                     g->name, g->spawning, t->spawning);
    if (g->outdated != t->outdated)
        return apl_check_state_found(a, 21, "group %.80s: outdated %u, but %u",
                                     g->name, g->outdated, t->outdated);
    if (g->hung != t->hung || t->marked != t->hung)
        return apl_check_state_found(
            a, 22, "group %.80s: hung %u, but %u of %u marked", g->name,
            g->hung, t->hung, t->marked);
    if (g->unkillable != t->unkillable)
        return apl_check_state_found(a, 23,
                                     "group %.80s: unkillable %u, but %u",
                                     g->name, g->unkillable, t->unkillable);
    if (g->sessions != t->sessions || g->leaving != t->leaving)
        return apl_check_state_found(
            a, 25, "group %.80s: sessions %u and leaving %u, but %u and %u",
            g->name, g->sessions, g->leaving, t->sessions, t->leaving);
    if (t->waiting > 0 && t->idle + t->room > 0)
        return apl_check_state_found(a, 19,
                                     "group %.80s: %u wait for what is there",
                                     g->name, t->waiting);
    a->sum.live += t->live;
    a->sum.idle += t->idle;
    a->sum.spawning += t->spawning;
    a->sum.waiting += t->waiting;
    a->sum.hung += t->hung;
    a->credit += apl_hung_credit(g);
    return APL_PART_DONE;
}

int apl_check_group(apl_check_t *a, uint32_t i)
{
    const apl_group_t *g = &a->pool.groups[i];
    const apl_tally_group_t *t = &a->tally.groups[i];

    if (g->state != APL_GROUP_USED)
        return APL_PART_DONE;
    switch (a->part) {
    case 0:
        return check_name(a, g);
    case 1:
        return check_bucket(a, g);
    case 2:
        return check_members(a, g, t);
    case 3:
        return check_idle(a, g, t);
    case 4:
        return check_order(a, g, t);
    case 5:
        return check_queue(a, g, t);
    default:
        return check_counts(a, g, t);
    }
}
