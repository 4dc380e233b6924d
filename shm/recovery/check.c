/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/recovery/recovery.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/format/heap.h"
#include "shm/format/list.h"
#include "shm/format/slot.h"
#include "shm/policy/capacity.h"
#include "shm/slots/connection_state.h"
#include "shm/slots/group.h"
#include "shm/slots/hung.h"

#define LOOK_UP_STEPS 64 /* steps that a look-up by name counts for */
#define GROUP_PARTS   7  /* parts of the check of a group */

/* ---- a check that is under way ---- */

enum {
    LIST_MORE,     /* no steps are left: continue later */
    LIST_GOOD,     /* the list is as it should be */
    LIST_TORN,     /* two neighbours do not agree */
    LIST_STRANGER, /* something is in it that should not be */
    LIST_LENGTH    /* it has more members than it should, or fewer */
};

/* The progress of a walk. Zeroed before the walk, and after its end. */
typedef struct {
    uint32_t begun;
    uint32_t at, from; /* a list's link; a heap's process, and the last one */
    uint32_t n;        /* members so far */
    uint32_t turns;    /* steps in the heap that are left */
    uint64_t last;     /* for `member` */
} walk_t;

/* May the record with this link be in the list? */
typedef int member_t(walk_t *walk, const apl_pool_t *pool, const void *owner,
                     uint32_t offset);

/* A check works on a handle of its own. A walk along a damaged list marks this
 * handle and not the caller's. */
struct apl_check_t {
    apl_pool_t pool;
    apl_finding_t finding;
    apl_tally_t tally;
    apl_tally_group_t sum; /* over all groups */
    uint32_t credit;       /* likewise */

    uint32_t phase, at; /* the position: a phase, a slot in it, */
    uint32_t part;      /* and a part of that slot */
    walk_t walk;        /* the list that is walked along */
    uint32_t left;      /* steps until the check returns */
};

/* The result of the check of a slot, or of a part of it. */
enum { PART_BAD, PART_DONE, PART_LATER };

/* Record a finding. @return PART_BAD */
__attribute__((format(printf, 3, 4))) static int
found(apl_check_t *a, int number, const char *format, ...)
{
    va_list args;

    a->finding.number = number;
    a->finding.slot = a->at;
    va_start(args, format);
    vsnprintf(a->finding.text, sizeof a->finding.text, format, args);
    va_end(args);
    return PART_BAD;
}

/* ---- walks along lists and heaps, a few links at a time ---- */

static int end(walk_t *walk, int verdict)
{
    memset(walk, 0, sizeof *walk);
    return verdict;
}

/* Go on along a list. A walk ends, whatever the bytes are: it passes no link
 * twice, and no more links than there should be.
 * @param n     members that the list should have
 * @param owner for `member`: whose list it is */
static int walk_list(apl_check_t *a, const apl_link_t *head, uint32_t n,
                     member_t *member, const void *owner)
{
    apl_pool_t *pool = &a->pool;
    walk_t *walk = &a->walk;

    if (!walk->begun) {
        walk->begun = 1;
        walk->at = APL_OFFSET(pool, head);
        pool->damaged = 0;
    }
    for (; a->left > 0; a->left--) {
        uint32_t next = apl_link_at(pool, walk->at)->next;

        /* Each link has the link back, so no link is met twice. */
        if (apl_link_at(pool, next)->prev != walk->at || pool->damaged)
            return end(walk, LIST_TORN);
        if (next == APL_OFFSET(pool, head))
            return end(walk, walk->n == n ? LIST_GOOD : LIST_LENGTH);
        if (!member(walk, pool, owner, next))
            return end(walk, LIST_STRANGER);
        if (walk->n++ == n)
            return end(walk, LIST_LENGTH);
        walk->at = next;
    }
    return LIST_MORE;
}

/* Does the process belong into the heap, below the parent that it names? */
static int in_place(const apl_pool_t *pool, const apl_group_t *g, uint32_t i)
{
    const apl_process_t *p = apl_process_at(pool, i), *above;

    if (!p || p->state != APL_PROCESS_LIVE || !apl_group_has_room(g, p) ||
        p->group != APL_GROUP_INDEX(pool, g))
        return 0;
    above = apl_process_at(pool, p->node.parent);
    return (above == NULL) == (i == g->order) &&
           (!above || apl_heap_before(above, p));
}

/* Go on along the heap of a group, which should have n processes. Walk up and
 * down by the references to parents, so no stack is needed. */
static int walk_heap(apl_check_t *a, const apl_group_t *group, uint32_t n)
{
    const apl_pool_t *pool = &a->pool;
    walk_t *walk = &a->walk;

    if (!walk->begun) {
        walk->begun = 1;
        walk->at = group->order;
        walk->turns = 4 * (n + 1);
    }
    for (; a->left > 0 && walk->at != 0; a->left--) {
        uint32_t i = walk->at, from = walk->from;
        const apl_node_t *node;

        if (walk->turns-- == 0 || !in_place(pool, group, i))
            return end(walk, LIST_TORN);
        node = &pool->processes[i].node;
        walk->from = i;
        if (from == node->parent) {
            walk->n++;
            walk->at = node->left    ? node->left
                       : node->right ? node->right
                                     : node->parent;
        }
        else if (from == node->left && node->right)
            walk->at = node->right;
        else
            walk->at = node->parent;
    }
    if (walk->at != 0)
        return LIST_MORE;
    return end(walk, walk->n == n ? LIST_GOOD : LIST_LENGTH);
}

/* ---- what may be in a list of a group ---- */

static const apl_process_t *inside(const apl_process_t *p, uint32_t state,
                                   uint32_t group)
{
    return p && p->state == state && p->group == group ? p : NULL;
}

static int is_live(walk_t *walk, const apl_pool_t *pool, const void *group,
                   uint32_t at)
{
    (void)walk;
    return inside(APL_PROCESS_OF(pool, at, member), APL_PROCESS_LIVE,
                  APL_GROUP_INDEX(pool, (const apl_group_t *)group)) != NULL;
}

static int is_idle(walk_t *walk, const apl_pool_t *pool, const void *group,
                   uint32_t at)
{
    const apl_process_t *p =
        inside(APL_PROCESS_OF(pool, at, idle), APL_PROCESS_LIVE,
               APL_GROUP_INDEX(pool, (const apl_group_t *)group));

    (void)walk;
    return p && p->sessions == 0;
}

/* The next waiter: tickets go up. */
static int is_next(walk_t *walk, const apl_pool_t *pool, const void *group,
                   uint32_t at)
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
        return found(a, 1, "group %.80s is not found by its name", g->name);
    return PART_DONE;
}

/* The next link in the bucket links back, and it belongs to another group or is
 * the head of the bucket. check_name() has found the group from the head, and
 * check_buckets() checks the heads. So the buckets are whole. */
static int check_bucket(apl_check_t *a, const apl_group_t *g)
{
    apl_pool_t *pool = &a->pool;
    uint32_t at = g->bucket.next;
    const apl_group_t *next = APL_GROUP_OF(pool, at, bucket);

    if (apl_link_at(pool, at)->prev != APL_OFFSET(pool, &g->bucket))
        return found(a, 18, "the bucket of group %.80s is torn", g->name);
    if (next ? next->state != APL_GROUP_USED
             : at != APL_OFFSET(pool, apl_group_bucket(pool, g->key)))
        return found(a, 1, "a stranger is in the bucket of group %.80s",
                     g->name);
    return PART_DONE;
}

/* Report what a walk along a list of a group has found, except its length. */
static int report_walk(apl_check_t *a, const apl_group_t *g, int verdict)
{
    if (verdict == LIST_TORN)
        return found(a, 18, "a list of group %.80s is torn", g->name);
    if (verdict == LIST_STRANGER)
        return found(a, 1, "a stranger is in a list of group %.80s", g->name);
    return verdict == LIST_MORE ? PART_LATER : PART_DONE;
}

static int check_members(apl_check_t *a, const apl_group_t *g,
                         const apl_tally_group_t *t)
{
    int verdict = walk_list(a, &g->processes, t->live, is_live, g);

    if (verdict == LIST_LENGTH || (verdict == LIST_GOOD && g->size != t->live))
        return found(a, 4, "group %.80s: size %u, but %u live", g->name,
                     g->size, t->live);
    return report_walk(a, g, verdict);
}

static int check_idle(apl_check_t *a, const apl_group_t *g,
                      const apl_tally_group_t *t)
{
    int verdict = walk_list(a, &g->idle, t->idle, is_idle, g);

    if (verdict == LIST_LENGTH)
        return found(a, 3, "group %.80s: %u idle, not all listed", g->name,
                     t->idle);
    return report_walk(a, g, verdict);
}

static int check_order(apl_check_t *a, const apl_group_t *g,
                       const apl_tally_group_t *t)
{
    int verdict = walk_heap(a, g, t->room);

    if (verdict > LIST_GOOD)
        return found(a, 3, "group %.80s: the order of %u is wrong", g->name,
                     t->room);
    return verdict == LIST_MORE ? PART_LATER : PART_DONE;
}

static int check_queue(apl_check_t *a, const apl_group_t *g,
                       const apl_tally_group_t *t)
{
    int verdict = walk_list(a, &g->queue, t->waiting, is_next, g);

    if (verdict == LIST_LENGTH || verdict == LIST_STRANGER ||
        (verdict == LIST_GOOD && g->waiting != t->waiting))
        return found(a, 14, "group %.80s: queue of %u, but %u wait", g->name,
                     g->waiting, t->waiting);
    return report_walk(a, g, verdict);
}

static int check_counts(apl_check_t *a, const apl_group_t *g,
                        const apl_tally_group_t *t)
{
    if (g->spawning != t->spawning)
        return found(a, 6, "group %.80s: spawning %u, but %u", g->name,
                     g->spawning, t->spawning);
    if (g->outdated != t->outdated)
        return found(a, 21, "group %.80s: outdated %u, but %u", g->name,
                     g->outdated, t->outdated);
    if (g->hung != t->hung || t->marked != t->hung)
        return found(a, 22, "group %.80s: hung %u, but %u of %u marked",
                     g->name, g->hung, t->hung, t->marked);
    if (g->unkillable != t->unkillable)
        return found(a, 23, "group %.80s: unkillable %u, but %u", g->name,
                     g->unkillable, t->unkillable);
    if (g->sessions != t->sessions || g->leaving != t->leaving)
        return found(a, 25,
                     "group %.80s: sessions %u and leaving %u, but %u and %u",
                     g->name, g->sessions, g->leaving, t->sessions, t->leaving);
    if (t->waiting > 0 && t->idle + t->room > 0)
        return found(a, 19, "group %.80s: %u wait for what is there", g->name,
                     t->waiting);
    a->sum.live += t->live;
    a->sum.idle += t->idle;
    a->sum.spawning += t->spawning;
    a->sum.waiting += t->waiting;
    a->sum.hung += t->hung;
    a->credit += apl_hung_credit(g);
    return PART_DONE;
}

static int check_group(apl_check_t *a, uint32_t i)
{
    const apl_group_t *g = &a->pool.groups[i];
    const apl_tally_group_t *t = &a->tally.groups[i];

    if (g->state != APL_GROUP_USED)
        return PART_DONE;
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

/* ---- what may be in a list of the header ---- */

/* A process in this state. A live one must be idle. */
static int is_in(walk_t *walk, const apl_pool_t *pool, const void *state,
                 uint32_t at)
{
    const apl_process_t *p = APL_PROCESS_OF(pool, at, pool);

    (void)walk;
    return p && p->state == *(const uint32_t *)state &&
           (p->state != APL_PROCESS_LIVE || p->sessions == 0);
}

static int is_free(walk_t *walk, const apl_pool_t *pool, const void *slots,
                   uint32_t at)
{
    const apl_slots_t *s = slots;
    const uint32_t *state =
        apl_record_of(pool, at, s->array, s->n, s->size, s->link);

    (void)walk;
    return state && *state == 0;
}

static int has_turn(walk_t *walk, const apl_pool_t *pool, const void *unserved,
                    uint32_t at)
{
    const apl_group_t *g = APL_GROUP_OF(pool, at, turn);

    (void)walk;
    return g && g->state == APL_GROUP_USED &&
           apl_group_unserved(g) == *(const int *)unserved;
}

static int has_turn_above(walk_t *walk, const apl_pool_t *pool,
                          const void *owner, uint32_t at)
{
    const apl_group_t *g = APL_GROUP_OF(pool, at, above);

    (void)walk;
    (void)owner;
    return g && g->state == APL_GROUP_USED;
}

/* ---- the header ---- */

static int check_sums(apl_check_t *a, uint32_t i)
{
    const apl_header_t *h = a->pool.header;
    const apl_tally_group_t *sum = &a->sum;
    uint32_t active = sum->live - sum->idle;

    (void)i;
    if (h->count != sum->live)
        return found(a, 9, "count %u, but %u live", h->count, sum->live);
    if (h->active != active || h->active > h->count)
        return found(a, 8, "active %u, but %u busy", h->active, active);
    if (h->spawning != sum->spawning)
        return found(a, 16, "spawning %u, but %u", h->spawning, sum->spawning);
    if (h->waiting != sum->waiting)
        return found(a, 14, "waiting %u, but %u", h->waiting, sum->waiting);
    if (h->hung != sum->hung || h->credit != a->credit)
        return found(a, 22, "hung %u with credit %u, but %u with %u", h->hung,
                     h->credit, sum->hung, a->credit);
    return PART_DONE;
}

/* Counts that each process has, too. This comes after check_process(), which
 * says which process is wrong. */
static int check_totals(apl_check_t *a, uint32_t i)
{
    const apl_header_t *h = a->pool.header;
    const apl_tally_t *t = &a->tally;

    (void)i;
    if (h->leaving != t->states[APL_PROCESS_LEAVING])
        return found(a, 18, "leaving %u, but %u leave", h->leaving,
                     t->states[APL_PROCESS_LEAVING]);
    if (h->abandoned != t->abandoned)
        return found(a, 24, "abandoned %u, but %u are", h->abandoned,
                     t->abandoned);
    if (h->replacing != t->replacing)
        return found(a, 21, "replacing %u, but %u", h->replacing, t->replacing);
    return PART_DONE;
}

/* Is the bucket empty, or does its first group link back to it? */
static int check_buckets(apl_check_t *a, uint32_t i)
{
    apl_pool_t *pool = &a->pool;
    uint32_t b;

    (void)i;
    for (b = 0; b < APL_BUCKETS; b++) {
        const apl_link_t *head = &pool->header->buckets[b];
        uint32_t self = APL_OFFSET(pool, head);
        const apl_group_t *g = APL_GROUP_OF(pool, head->next, bucket);

        if (head->next == self
                ? head->prev != self
                : !g || g->state != APL_GROUP_USED || g->bucket.prev != self)
            return found(a, 18, "bucket %u is torn", b);
    }
    a->left -= a->left < APL_BUCKETS ? a->left : APL_BUCKETS;
    return PART_DONE;
}

/* A list of the header, and what should be in it. */
typedef struct {
    const char *name;
    const apl_link_t *head;
    uint32_t n;
    member_t *member;
    const void *owner;
} list_t;

#define LISTS 10

static int check_list(apl_check_t *a, uint32_t i)
{
    static const uint32_t live = APL_PROCESS_LIVE, wanted = APL_PROCESS_WANTED,
                          leaving = APL_PROCESS_LEAVING;
    static const int yes = 1, no = 0;
    const apl_header_t *h = a->pool.header;
    const apl_tally_t *t = &a->tally;
    const apl_slots_t groups = apl_slots_groups(&a->pool),
                      processes = apl_slots_processes(&a->pool),
                      sessions = apl_slots_sessions(&a->pool),
                      children = apl_slots_children(&a->pool);
    const list_t lists[LISTS] = {
        {"inactive", &h->inactive, a->sum.idle, is_in, &live},
        {"wanted", &h->wanted, t->states[wanted], is_in, &wanted},
        {"leavers", &h->leavers, t->states[leaving], is_in, &leaving},
        {"unserved", &h->unserved, t->unserved, has_turn, &yes},
        {"growing", &h->growing, t->growing, has_turn, &no},
        {"above", &h->above, t->above, has_turn_above, NULL},
        {"groups_free", groups.free, t->groups_free, is_free, &groups},
        {"processes_free", processes.free, t->states[APL_PROCESS_FREE], is_free,
         &processes},
        {"sessions_free", sessions.free, t->sessions_free, is_free, &sessions},
        {"children_free", children.free, t->children_free, is_free, &children},
    };
    const list_t *l = &lists[a->part];
    int verdict = walk_list(a, l->head, l->n, l->member, l->owner);

    (void)i;
    if (verdict > LIST_GOOD)
        return found(a, a->part == 0 ? 8 : 18, "the list %s of %u is wrong",
                     l->name, l->n);
    return verdict == LIST_MORE ? PART_LATER : PART_DONE;
}

/* ---- groups that wait, processes, sessions, children ---- */

/* Do the waiters of the group have a reason to wait? */
static int check_waiters(apl_check_t *a, uint32_t i)
{
    const apl_pool_t *pool = &a->pool;
    const apl_group_t *g = &pool->groups[i];

    if (g->state != APL_GROUP_USED || g->waiting == 0 || g->spawning > 0 ||
        apl_group_fails(g) || apl_group_closed(g) ||
        apl_group_too_many_unkillable(g) || apl_group_at_limit(g) ||
        !apl_group_unserved(g))
        return PART_DONE;
    if (!apl_list_linked(&g->turn))
        return found(a, 20, "group %.80s waits without a turn", g->name);
    if (apl_capacity_is_left(pool, g, 0) ||
        (apl_capacity_is_left(pool, NULL, 1) && a->sum.idle > 0))
        return found(a, 20, "group %.80s waits without need", g->name);
    return PART_DONE;
}

static int check_process(apl_check_t *a, uint32_t i)
{
    const apl_process_t *p = &a->pool.processes[i];
    const apl_tally_process_t *is = &a->tally.processes[i];

    if (p->state < APL_PROCESS_LIVE)
        return PART_DONE;
    if (p->abandoned != is->abandoned)
        return found(a, 24, "process %u: %u abandoned, but %u are", i,
                     p->abandoned, is->abandoned);
    if (p->sessions != is->open)
        return found(a, 10, "process %u: %u sessions, but %u are held", i,
                     p->sessions, is->open);
    if (p->state == APL_PROCESS_LEAVING &&
        (apl_list_linked(&p->member) || apl_list_linked(&p->idle)))
        return found(a, 5, "process %u leaves, but is in its group", i);
    if (!apl_connection_is_valid(p))
        return found(a, 27, "process %u: no such state of a connection", i);
    return PART_DONE;
}

/* Is the session abandoned: open, without an owner, with a process? */
static int is_abandoned(const apl_pool_t *pool, const apl_session_t *s)
{
    const apl_process_t *p = apl_process_at(pool, s->process);

    return s->state == APL_SESSION_OPEN && p && p->state >= APL_PROCESS_LIVE &&
           p->generation == s->process_generation;
}

static int check_session(apl_check_t *a, uint32_t i)
{
    const apl_pool_t *pool = &a->pool;
    const apl_session_t *s = &pool->sessions[i];
    const apl_child_t *c = apl_child_at(pool, s->child);
    const apl_group_t *g = apl_group_at(pool, s->group);

    if (s->state == APL_SESSION_FREE)
        return PART_DONE;
    if (s->child == 0 ? !is_abandoned(pool, s)
                      : !c || c->state != APL_CHILD_USED)
        return found(a, 17, "session %u has no owner", i);
    if (!g || g->state != APL_GROUP_USED)
        return found(a, 17, "session %u has no group", i);
    return PART_DONE;
}

static int check_child(apl_check_t *a, uint32_t i)
{
    const apl_child_t *c = &a->pool.children[i];
    uint32_t owned = a->tally.children[i];

    if (c->state == APL_CHILD_USED && c->sessions != owned)
        return found(a, 26, "child %u: %u sessions, but it owns %u", i,
                     c->sessions, owned);
    return PART_DONE;
}

/* ---- all of it ---- */

/* Is the state of a counted slot one of the `states` that there are? */
static int is_known(apl_check_t *a, uint32_t state, uint32_t states)
{
    return state < states
               ? PART_DONE
               : found(a, 18, "slot %u is in state %u", a->at, state);
}

static int count_group(apl_check_t *a, uint32_t i)
{
    apl_tally_group(&a->tally, &a->pool, i);
    return is_known(a, a->pool.groups[i].state, APL_GROUP_USED + 1);
}

static int count_process(apl_check_t *a, uint32_t i)
{
    apl_tally_process(&a->tally, &a->pool, i);
    return is_known(a, a->pool.processes[i].state, APL_PROCESS_STATES);
}

static int count_session(apl_check_t *a, uint32_t i)
{
    apl_tally_session(&a->tally, &a->pool, i);
    return is_known(a, a->pool.sessions[i].state, APL_SESSION_STATES);
}

static int count_child(apl_check_t *a, uint32_t i)
{
    apl_tally_child(&a->tally, &a->pool, i);
    return is_known(a, a->pool.children[i].state, APL_CHILD_USED + 1);
}

enum { HEADER, GROUPS, PROCESSES, SESSIONS, CHILDREN };

static const struct {
    int array;
    uint32_t parts; /* parts of the check of each slot */
    int (*look)(apl_check_t *a, uint32_t i);
} phases[] = {
    {GROUPS, 1, count_group}, /* first count, */
    {PROCESSES, 1, count_process},
    {SESSIONS, 1, count_session},
    {CHILDREN, 1, count_child},
    {HEADER, 1, check_buckets}, /* then compare */
    {GROUPS, GROUP_PARTS, check_group},
    {HEADER, 1, check_sums},
    {GROUPS, 1, check_waiters},
    {PROCESSES, 1, check_process},
    {HEADER, 1, check_totals},
    {SESSIONS, 1, check_session},
    {CHILDREN, 1, check_child},
    {HEADER, LISTS, check_list},
};

#define PHASES (sizeof phases / sizeof *phases)

/* The header counts as an array with slot 0 only. */
static uint32_t last_slot(const apl_check_t *a, int array)
{
    const apl_capacity_t *top = &a->tally.top;

    return array == HEADER      ? 0
           : array == GROUPS    ? top->groups
           : array == PROCESSES ? top->processes
           : array == SESSIONS  ? top->sessions
                                : top->children;
}

static void begin_phase(apl_check_t *a, uint32_t phase)
{
    a->phase = phase;
    a->at = phase < PHASES && phases[phase].array != HEADER;
    a->part = 0;
}

apl_check_t *apl_check_begin(const apl_pool_t *pool)
{
    apl_check_t *a = calloc(1, sizeof *a);

    if (!a || !apl_tally_begin(&a->tally, pool)) {
        free(a);
        return NULL;
    }
    a->pool = *pool;
    begin_phase(a, 0);
    return a;
}

int apl_check_go(apl_check_t *check, uint32_t steps, apl_finding_t *finding)
{
    apl_check_t *a = check;

    a->left = steps;
    while (a->phase < PHASES) {
        uint32_t last = last_slot(a, phases[a->phase].array);

        for (; a->at <= last; a->at++, a->part = 0)
            for (; a->part < phases[a->phase].parts; a->part++) {
                int came =
                    a->left > 0 ? phases[a->phase].look(a, a->at) : PART_LATER;

                if (came == PART_BAD)
                    *finding = a->finding;
                if (came != PART_DONE)
                    return came == PART_BAD ? APL_CHECK_BAD : APL_CHECK_MORE;
                a->left -= a->left > 0;
            }
        begin_phase(a, a->phase + 1);
    }
    *finding = a->finding;
    return APL_CHECK_GOOD;
}

void apl_check_end(apl_check_t *check)
{
    apl_tally_end(&check->tally);
    free(check);
}

int apl_check(const apl_pool_t *pool, apl_finding_t *finding)
{
    apl_check_t *a = apl_check_begin(pool);
    int came;

    if (!a) {
        *finding = (apl_finding_t){.text = "there is no memory for a check"};
        return 0;
    }
    do
        came = apl_check_go(a, UINT32_MAX, finding);
    while (came == APL_CHECK_MORE);
    apl_check_end(a);
    return came == APL_CHECK_GOOD;
}
