/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/recovery/check.h"

#include <stdlib.h>
#include <string.h>

#include "shm/slots/connection_state.h"
#include "shm/slots/group.h"
#include "shm/slots/hung.h"
#include "shm/recovery/check_group.h"
#include "shm/policy/room.h"
#include "shm/format/slot.h"

/* ---- what may be in a list of the header ---- */

/* A process in this state. A live one must be idle. */
static int is_in(apl_check_list_t *walk, const apl_pool_t *pool,
                 const void *state, uint32_t at)
{
    const apl_process_t *p = APL_PROCESS_OF(pool, at, pool);

    (void)walk;
    return p && p->state == *(const uint32_t *)state &&
           (p->state != APL_PROCESS_LIVE || p->sessions == 0);
}

static int is_free(apl_check_list_t *walk, const apl_pool_t *pool,
                   const void *slots, uint32_t at)
{
    const apl_slots_t *s = slots;
    const uint32_t *state =
        apl_record_of(pool, at, s->array, s->n, s->size, s->link);

    (void)walk;
    return state && *state == 0;
}

static int has_turn(apl_check_list_t *walk, const apl_pool_t *pool,
                    const void *unserved, uint32_t at)
{
    const apl_group_t *g = APL_GROUP_OF(pool, at, turn);

    (void)walk;
    return g && g->state == APL_GROUP_USED &&
           apl_group_unserved(g) == *(const int *)unserved;
}

static int has_turn_above(apl_check_list_t *walk, const apl_pool_t *pool,
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
        return apl_check_state_found(a, 9, "count %u, but %u live", h->count,
                                     sum->live);
    if (h->active != active || h->active > h->count)
        return apl_check_state_found(a, 8, "active %u, but %u busy", h->active,
                                     active);
    if (h->spawning != sum->spawning)
        return apl_check_state_found(a, 16, "spawning %u, but %u", h->spawning,
                                     sum->spawning);
    if (h->waiting != sum->waiting)
        return apl_check_state_found(a, 14, "waiting %u, but %u", h->waiting,
                                     sum->waiting);
    if (h->hung != sum->hung || h->credit != a->credit)
        return apl_check_state_found(a, 22,
                                     "hung %u with credit %u, but %u with %u",
                                     h->hung, h->credit, sum->hung, a->credit);
    return APL_PART_DONE;
}

/* Counts that each process has, too. This comes after check_process(), which
 * says which process is wrong. */
static int check_totals(apl_check_t *a, uint32_t i)
{
    const apl_header_t *h = a->pool.header;
    const apl_tally_t *t = &a->tally;

    (void)i;
    if (h->leaving != t->states[APL_PROCESS_LEAVING])
        return apl_check_state_found(a, 18, "leaving %u, but %u leave",
                                     h->leaving,
                                     t->states[APL_PROCESS_LEAVING]);
    if (h->abandoned != t->abandoned)
        return apl_check_state_found(a, 24, "abandoned %u, but %u are",
                                     h->abandoned, t->abandoned);
    if (h->replacing != t->replacing)
        return apl_check_state_found(a, 21, "replacing %u, but %u",
                                     h->replacing, t->replacing);
    return APL_PART_DONE;
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
            return apl_check_state_found(a, 18, "bucket %u is torn", b);
    }
    a->left -= a->left < APL_BUCKETS ? a->left : APL_BUCKETS;
    return APL_PART_DONE;
}

/* A list of the header, and what should be in it. */
typedef struct {
    const char *name;
    const apl_link_t *head;
    uint32_t n;
    apl_check_list_member_t *member;
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
    int verdict = apl_check_state_walk(a, l->head, l->n, l->member, l->owner);

    (void)i;
    if (verdict > APL_CHECK_LIST_GOOD)
        return apl_check_state_found(a, a->part == 0 ? 8 : 18,
                                     "the list %s of %u is wrong", l->name,
                                     l->n);
    return verdict == APL_CHECK_LIST_MORE ? APL_PART_LATER : APL_PART_DONE;
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
        return APL_PART_DONE;
    if (!apl_list_linked(&g->turn))
        return apl_check_state_found(a, 20, "group %.80s waits without a turn",
                                     g->name);
    if (apl_room_is_left(pool, g, 0) ||
        (apl_room_is_left(pool, NULL, 1) && a->sum.idle > 0))
        return apl_check_state_found(a, 20, "group %.80s waits without need",
                                     g->name);
    return APL_PART_DONE;
}

static int check_process(apl_check_t *a, uint32_t i)
{
    const apl_process_t *p = &a->pool.processes[i];
    const apl_tally_process_t *is = &a->tally.processes[i];

    if (p->state < APL_PROCESS_LIVE)
        return APL_PART_DONE;
    if (p->abandoned != is->abandoned)
        return apl_check_state_found(a, 24,
                                     "process %u: %u abandoned, but %u are", i,
                                     p->abandoned, is->abandoned);
    if (p->sessions != is->open)
        return apl_check_state_found(a, 10,
                                     "process %u: %u sessions, but %u are held",
                                     i, p->sessions, is->open);
    if (p->state == APL_PROCESS_LEAVING &&
        (apl_list_linked(&p->member) || apl_list_linked(&p->idle)))
        return apl_check_state_found(
            a, 5, "process %u leaves, but is in its group", i);
    if (!apl_connection_is_valid(p))
        return apl_check_state_found(
            a, 27, "process %u: no such state of a connection", i);
    return APL_PART_DONE;
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
        return APL_PART_DONE;
    if (s->child == 0 ? !is_abandoned(pool, s)
                      : !c || c->state != APL_CHILD_USED)
        return apl_check_state_found(a, 17, "session %u has no owner", i);
    if (!g || g->state != APL_GROUP_USED)
        return apl_check_state_found(a, 17, "session %u has no group", i);
    return APL_PART_DONE;
}

static int check_child(apl_check_t *a, uint32_t i)
{
    const apl_child_t *c = &a->pool.children[i];
    uint32_t owned = a->tally.children[i];

    if (c->state == APL_CHILD_USED && c->sessions != owned)
        return apl_check_state_found(a, 26,
                                     "child %u: %u sessions, but it owns %u", i,
                                     c->sessions, owned);
    return APL_PART_DONE;
}

/* ---- all of it ---- */

/* Is the state of a counted slot one of the `states` that there are? */
static int is_known(apl_check_t *a, uint32_t state, uint32_t states)
{
    return state < states ? APL_PART_DONE
                          : apl_check_state_found(
                                a, 18, "slot %u is in state %u", a->at, state);
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
    {GROUPS, 1, count_group},
    {PROCESSES, 1, count_process},
    {SESSIONS, 1, count_session},
    {CHILDREN, 1, count_child},
    {HEADER, 1, check_buckets},
    {GROUPS, APL_CHECK_GROUP_PARTS, apl_check_group},
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
                int came = a->left > 0 ? phases[a->phase].look(a, a->at)
                                       : APL_PART_LATER;

                if (came == APL_PART_BAD)
                    *finding = a->finding;
                if (came != APL_PART_DONE)
                    return came == APL_PART_BAD ? APL_CHECK_BAD
                                                : APL_CHECK_MORE;
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
