/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/recovery/recovery.h"

#include <string.h>

#include "shm/slots/connection_state.h"
#include "shm/slots/event.h"
#include "shm/slots/group.h"
#include "shm/format/list.h"
#include "shm/format/segment.h"
#include "shm/slots/process.h"
#include "shm/slots/session.h"

/* Mark a link as in no list. A link that is clear already is not written: a
 * cache line that was written has to go back to memory, which takes as long as
 * to read it. */
static void clear_link(apl_link_t *link)
{
    if ((link->next | link->prev) != 0)
        *link = (apl_link_t){0, 0};
}

/* Keep a mark of use in bounds. The marks are hints: a wrong mark makes passes
 * longer, but the slots are still right. */
static uint32_t keep_top_in_bounds(uint32_t *mark, uint32_t n)
{
    return *mark = apl_top(mark, n);
}

/* A group is good if its name leads to it, and to no other group. */
static int is_good_group(apl_pool_t *pool, const apl_group_t *g)
{
    return g->state == APL_GROUP_USED && g->name[0] != 0 &&
           memchr(g->name, 0, sizeof g->name) != NULL &&
           g->key == apl_group_key(g->name) &&
           apl_group_can_add(pool, g->key, g->name);
}

static void repair_groups(apl_pool_t *pool)
{
    apl_header_t *h = pool->header;
    uint32_t i, top = keep_top_in_bounds(&h->top_group, pool->n.groups);

    for (i = 1; i <= top; i++) {
        apl_group_t *g = &pool->groups[i];

        memset(&g->turn, 0, sizeof g->turn);
        memset(&g->above, 0, sizeof g->above);
        apl_list_init(pool, &g->processes);
        apl_list_init(pool, &g->idle);
        apl_list_init(pool, &g->queue);
        g->order = g->size = g->spawning = g->waiting = g->outdated = 0;
        g->hung = g->unkillable = g->sessions = g->leaving = 0;
        g->root[sizeof g->root - 1] = 0;
        g->error[sizeof g->error - 1] = 0;
        if (is_good_group(pool, g))
            apl_group_link(pool, g);
        else {
            g->state = APL_GROUP_FREE;
            apl_list_append(pool, &h->groups_free, &g->bucket);
        }
    }
}

static void repair_children(apl_pool_t *pool)
{
    apl_header_t *h = pool->header;
    uint32_t i, top = keep_top_in_bounds(&h->top_child, pool->n.children);

    for (i = 1; i <= top; i++) {
        apl_child_t *c = &pool->children[i];

        c->sessions = 0;
        memset(&c->link, 0, sizeof c->link);
        if (c->state != APL_CHILD_USED) {
            c->state = APL_CHILD_FREE;
            apl_list_append(pool, &h->children_free, &c->link);
        }
    }
}

/* The next ticket must be above all tickets in the slots. A ticket that no pool
 * lives long enough to reach is damage. */
static void keep_ticket(apl_header_t *h, uint64_t *ticket)
{
    if (*ticket >> 62 != 0)
        *ticket = 0;
    else if (*ticket > h->ticket)
        h->ticket = *ticket;
}

static int is_used_group(const apl_pool_t *pool, const apl_group_t *g)
{
    return g && APL_GROUP_INDEX(pool, g) <= pool->header->top_group &&
           g->state == APL_GROUP_USED;
}

static void clean_processes(apl_pool_t *pool, int64_t now)
{
    apl_header_t *h = pool->header;
    uint32_t i, top = keep_top_in_bounds(&h->top_process, pool->n.processes);

    for (i = 1; i <= top; i++) {
        apl_process_t *p = &pool->processes[i];
        const apl_group_t *g = apl_group_at(pool, p->group);

        p->sessions = p->abandoned = 0;
        memset(&p->member, 0, sizeof p->member);
        memset(&p->idle, 0, sizeof p->idle);
        memset(&p->pool, 0, sizeof p->pool);
        memset(&p->node, 0, sizeof p->node);
        if (p->state >= APL_PROCESS_STATES || !is_used_group(pool, g) ||
            (p->state > APL_PROCESS_WANTED && (p->id & 0xffff) != i))
            p->state = APL_PROCESS_FREE;
        else if (p->revision > g->revision)
            p->revision = 0; /* it cannot have a revision of the future */
        if (!apl_connection_is_valid(p))
            p->connection = 0; /* it is cut before the next one is made */
        keep_ticket(h, &p->birth);
        /* With a time in the future, the process would not be idle for a long
         * time. A little later is possible: another process read its clock
         * after this one. */
        if (p->last_used > now + 60000000)
            p->last_used = now;
    }
}

/* Is the session in use, and do its owner and its group exist? */
static int is_good_session(const apl_pool_t *pool, uint32_t state,
                           const apl_child_t *c, const apl_group_t *g)
{
    return state > APL_SESSION_FREE && state < APL_SESSION_STATES && c &&
           APL_CHILD_INDEX(pool, c) <= pool->header->top_child &&
           c->state == APL_CHILD_USED && is_used_group(pool, g);
}

/* Is the session abandoned: without an owner, but with a process? Then its
 * group exists, or the process would have been freed before. */
static int is_abandoned(const apl_session_t *s, const apl_process_t *p)
{
    return s->child == 0 && p && p->state >= APL_PROCESS_LIVE;
}

/* The process of the session is gone. A later process in its slot must not
 * be taken for it. */
static void make_process_stale(const apl_pool_t *pool, apl_session_t *s)
{
    const apl_process_t *later = apl_process_at(pool, s->process);

    if (later)
        s->process_generation = later->generation - 1;
}

static void repair_sessions(apl_lock_token_t *token)
{
    apl_pool_t *pool = token->pool;
    apl_header_t *h = pool->header;
    uint32_t i, top = keep_top_in_bounds(&h->top_session, pool->n.sessions);

    for (i = 1; i <= top; i++) {
        apl_session_t *s = &pool->sessions[i];
        apl_child_t *c = apl_child_at(pool, s->child);
        apl_group_t *g = apl_group_at(pool, s->group);
        uint32_t state = apl_once(s->state);
        apl_process_t *p =
            state == APL_SESSION_OPEN ? apl_session_process(token, s) : NULL;

        apl_session_ahead(s);
        clear_link(&s->link);
        if (!is_good_session(pool, state, c, g) && !is_abandoned(s, p)) {
            s->state = APL_SESSION_FREE;
            apl_list_append(pool, &h->sessions_free, &s->link);
            continue;
        }
        if (c)
            c->sessions++;
        if (g)
            g->sessions++;
        keep_ticket(h, &s->ticket);
        if (state == APL_SESSION_WAITING) {
            apl_list_append(pool, &g->queue, &s->link);
            g->waiting++;
            h->waiting++;
        }
        if (p)
            apl_session_recount(token, s, p);
        else if (state == APL_SESSION_OPEN)
            make_process_stale(pool, s);
    }
}

/* ---- the order of the lists ---- */

static uint64_t by_ticket(const apl_pool_t *pool, uint32_t offset)
{
    const apl_session_t *s = APL_SESSION_OF(pool, offset, link);

    return s ? s->ticket : 0;
}

static uint64_t by_birth(const apl_pool_t *pool, uint32_t offset)
{
    const apl_process_t *p = APL_PROCESS_OF(pool, offset, member);

    return p ? p->birth : 0;
}

static uint64_t by_order(const apl_pool_t *pool, uint32_t offset)
{
    const apl_process_t *p = APL_PROCESS_OF(pool, offset, pool);

    return p ? p->birth : 0;
}

static uint64_t by_recent_use(const apl_pool_t *pool, uint32_t offset)
{
    const apl_process_t *p = APL_PROCESS_OF(pool, offset, idle);

    return p ? ~(uint64_t)p->last_used : 0;
}

static uint64_t by_use(const apl_pool_t *pool, uint32_t offset)
{
    const apl_process_t *p = APL_PROCESS_OF(pool, offset, pool);

    return p ? (uint64_t)p->last_used : 0;
}

static uint64_t by_waiter(const apl_pool_t *pool, uint32_t offset)
{
    const apl_group_t *g = APL_GROUP_OF(pool, offset, turn);
    const apl_session_t *s =
        g ? APL_SESSION_OF(pool, g->queue.next, link) : NULL;

    return s ? s->ticket : 0;
}

/* Each group with waiters gets a turn. If the group may not have a process now,
 * it loses its turn when it comes. */
static void give_turns(apl_pool_t *pool)
{
    apl_header_t *h = pool->header;
    uint32_t i, top = apl_top(&h->top_group, pool->n.groups);

    for (i = 1; i <= top; i++) {
        apl_group_t *g = &pool->groups[i];

        if (g->state == APL_GROUP_USED && g->waiting > 0)
            apl_list_append(pool,
                            apl_group_unserved(g) ? &h->unserved : &h->growing,
                            &g->turn);
    }
    apl_list_sort(pool, &h->unserved, pool->n.groups, by_waiter);
    apl_list_sort(pool, &h->growing, pool->n.groups, by_waiter);
}

static void order_lists(apl_pool_t *pool)
{
    apl_header_t *h = pool->header;
    uint32_t processes = pool->n.processes, sessions = pool->n.sessions;
    uint32_t i, top = apl_top(&h->top_group, pool->n.groups);

    apl_list_sort(pool, &h->inactive, processes, by_use);
    apl_list_sort(pool, &h->wanted, processes, by_order);
    for (i = 1; i <= top; i++) {
        apl_group_t *g = &pool->groups[i];

        if (g->state != APL_GROUP_USED)
            continue;
        apl_list_sort(pool, &g->queue, sessions, by_ticket);
        apl_list_sort(pool, &g->processes, processes, by_birth);
        apl_list_sort(pool, &g->idle, processes, by_recent_use);
    }
}

void apl_repair(apl_lock_token_t *token)
{
    apl_pool_t *pool = token->pool;
    apl_header_t *h = pool->header;
    uint32_t i, top;

    /* Damage from here on is new: another process writes meanwhile. */
    pool->damaged = 0;
    if (h->ticket >> 62 != 0)
        h->ticket = 0;
    apl_segment_empty(pool);
    APL_CRASH_POINT("repair_reset");
    repair_groups(pool);
    APL_CRASH_POINT("repair_groups");
    repair_children(pool);
    APL_CRASH_POINT("repair_children");
    clean_processes(pool, token->now);
    APL_CRASH_POINT("repair_processes");
    repair_sessions(token);
    APL_CRASH_POINT("repair_sessions");
    top = apl_top(&h->top_process, pool->n.processes);
    for (i = 1; i <= top; i++)
        apl_process_link(token, &pool->processes[i]);
    APL_CRASH_POINT("repair_listed");
    order_lists(pool);
    give_turns(pool);
    h->counters.repairs++;
    apl_event_note(token, APL_EVENT_REPAIRED, NULL, NULL);
}
