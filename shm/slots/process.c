/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/slots/process.h"

#include <string.h>

#include "shm/slots/event.h"
#include "shm/slots/group.h"
#include "shm/format/heap.h"
#include "shm/slots/hung.h"
#include "shm/format/slot.h"

apl_group_t *apl_process_group(apl_lock_token_t *token,
                               const apl_process_t *process)
{
    apl_group_t *g = apl_group_at(token->pool, process->group);

    if (!g || g->state != APL_GROUP_USED) {
        token->pool->damaged = 1;
        return NULL;
    }
    return g;
}

apl_process_t *apl_process_find(apl_lock_token_t *token, uint64_t id)
{
    uint32_t i = (uint32_t)(id & 0xffff);
    apl_process_t *p = apl_process_at(token->pool, i);

    return p && i <= token->pool->header->top_process &&
                   p->state != APL_PROCESS_FREE && p->id == id
               ? p
               : NULL;
}

/* ---- lists and counts of each state ---- */

/* A group that has a turn has it in the list `unserved` or in the list
 * `growing`: move the turn if the group changed sides.
 * @param was_unserved what apl_group_unserved() was before the change */
static void move_turn(apl_pool_t *pool, apl_group_t *g, int was_unserved)
{
    int unserved = apl_group_unserved(g);

    if (unserved == was_unserved || !apl_list_linked(&g->turn))
        return;
    apl_list_remove(pool, &g->turn);
    apl_list_append(pool,
                    unserved ? &pool->header->unserved : &pool->header->growing,
                    &g->turn);
}

/* A busy process that can take one more session belongs into `order`. */
static void insert_if_room(apl_pool_t *pool, apl_group_t *g, apl_process_t *p)
{
    if (apl_group_has_room(g, p))
        apl_heap_insert(pool, &g->order, p);
}

static void enlist_live(apl_lock_token_t *token, apl_process_t *p,
                        apl_group_t *g)
{
    apl_pool_t *pool = token->pool;
    apl_header_t *h = pool->header;
    int was_unserved = apl_group_unserved(g);

    apl_list_append(pool, &g->processes, &p->member);
    g->size++;
    if (apl_group_outdated(g, p))
        g->outdated++;
    h->count++;
    h->replacing += p->trial != 0;
    if (p->sessions == 0)
        p->hung = 0; /* the closer of its last session has died */
    if (p->hung)
        apl_hung_count(pool, g, 1);
    move_turn(pool, g, was_unserved);
    if (p->sessions == 0) {
        apl_list_prepend(pool, &g->idle, &p->idle);
        apl_list_append(pool, &h->inactive, &p->pool);
    }
    else {
        h->active++;
        insert_if_room(pool, g, p);
    }
}

static void delist_live(apl_lock_token_t *token, apl_process_t *p,
                        apl_group_t *g)
{
    apl_pool_t *pool = token->pool;
    apl_header_t *h = pool->header;
    int was_unserved = apl_group_unserved(g);

    apl_list_remove(pool, &p->member);
    g->size--;
    if (apl_group_outdated(g, p))
        g->outdated--;
    if (p->hung)
        apl_hung_count(pool, g, -1);
    move_turn(pool, g, was_unserved);
    h->count--;
    h->replacing -= p->trial != 0;
    if (p->sessions == 0) {
        apl_list_remove(pool, &p->idle);
        apl_list_remove(pool, &p->pool);
    }
    else {
        h->active--;
        apl_heap_remove(pool, &g->order, p);
    }
}

void apl_process_link(apl_lock_token_t *token, apl_process_t *process)
{
    apl_pool_t *pool = token->pool;
    apl_header_t *h = pool->header;
    apl_group_t *g = process->state != APL_PROCESS_FREE
                         ? apl_process_group(token, process)
                         : NULL;

    switch (process->state) {
    case APL_PROCESS_WANTED:
        apl_list_append(pool, &h->wanted, &process->pool);
        /* fall through */
    case APL_PROCESS_STARTING:
        h->spawning++;
        h->replacing += process->replaces != 0;
        if (g)
            g->spawning++;
        break;
    case APL_PROCESS_LIVE:
        if (g)
            enlist_live(token, process, g);
        break;
    case APL_PROCESS_LEAVING:
        apl_list_append(pool, &h->leavers, &process->pool);
        h->leaving++;
        if (g) {
            g->leaving++;
            g->unkillable += process->unkillable != 0;
        }
        break;
    default:
        apl_slot_put(pool, apl_slots_processes(pool), process);
        break;
    }
}

/* Remove a process from the lists and counts of its old state. */
static void delist(apl_lock_token_t *token, apl_process_t *process,
                   uint32_t state)
{
    apl_pool_t *pool = token->pool;
    apl_header_t *h = pool->header;
    apl_group_t *g = apl_process_group(token, process);

    switch (state) {
    case APL_PROCESS_WANTED:
    case APL_PROCESS_STARTING:
        apl_list_remove(pool, &process->pool);
        h->spawning--;
        h->replacing -= process->replaces != 0;
        if (g)
            g->spawning--;
        break;
    case APL_PROCESS_LIVE:
        if (g)
            delist_live(token, process, g);
        break;
    case APL_PROCESS_LEAVING:
        apl_list_remove(pool, &process->pool);
        h->leaving--;
        if (g) {
            g->leaving--;
            g->unkillable -= process->unkillable != 0;
        }
        break;
    default:
        break;
    }
}

static void change_state(apl_lock_token_t *token, apl_process_t *process,
                         uint32_t state)
{
    uint32_t before = process->state;

    process->state = state;
    APL_CRASH_POINT("process_state");
    /* seen: the new state; the lists still have the old one */
    delist(token, process, before);
    apl_process_link(token, process);
}

/* ---- moves ---- */

void apl_process_reset(apl_process_t *process)
{
    process->generation++;
    APL_CRASH_POINT("process_generation");
    memset(&process->id, 0, sizeof *process - offsetof(apl_process_t, id));
}

apl_process_t *apl_process_reserve(apl_lock_token_t *token, apl_group_t *group,
                                   int replaces)
{
    apl_process_t *p =
        apl_slot_take(token->pool, apl_slots_processes(token->pool));

    if (!p)
        return NULL;
    apl_process_reset(p);
    p->group = APL_GROUP_INDEX(token->pool, group);
    p->started = p->last_used = token->now;
    p->birth = ++token->pool->header->ticket;
    p->replaces = replaces != 0;
    p->wire.concurrency = APL_CONCURRENCY_AUTO; /* because 0 means no limit */
    APL_CRASH_POINT("reserve_filled");
    p->state = APL_PROCESS_WANTED;
    APL_CRASH_POINT("reserve_wanted");
    /* seen: a place is taken, but not counted */
    apl_process_link(token, p);
    token->ring = 1;
    return p;
}

void apl_process_start(apl_lock_token_t *token, apl_process_t *process,
                       uint64_t id)
{
    const apl_group_t *g = apl_process_group(token, process);

    process->id = id;
    process->started = token->now;
    process->revision = g ? g->revision : 0;
    APL_CRASH_POINT("start_named");
    change_state(token, process, APL_PROCESS_STARTING);
}

void apl_process_live(apl_lock_token_t *token, apl_process_t *process)
{
    process->ready_at = token->now;
    apl_process_touch(token, process);
    APL_CRASH_POINT("live_times");
    change_state(token, process, APL_PROCESS_LIVE);
}

void apl_process_end_trial(apl_lock_token_t *token, apl_process_t *process)
{
    process->trial = 0;
    APL_CRASH_POINT("trial_over");
    /* seen: it is on trial no more, but header.replacing has it */
    token->pool->header->replacing--;
}

void apl_process_leave(apl_lock_token_t *token, apl_process_t *process,
                       uint32_t reason)
{
    apl_event_note(token, reason, apl_process_group(token, process), process);
    process->reason = reason;
    APL_CRASH_POINT("leave_reason");
    change_state(token, process, APL_PROCESS_LEAVING);
    token->ring = 1;
}

void apl_process_free(apl_lock_token_t *token, apl_process_t *process)
{
    change_state(token, process, APL_PROCESS_FREE);
}

/* ---- sessions ---- */

void apl_process_set_hung(apl_lock_token_t *token, apl_process_t *process,
                          int hung)
{
    apl_pool_t *pool = token->pool;
    apl_group_t *g = apl_process_group(token, process);
    int was_unserved;

    if (!g || process->state != APL_PROCESS_LIVE)
        return;
    was_unserved = apl_group_unserved(g);
    apl_heap_remove(pool, &g->order, process);
    process->hung = hung != 0;
    APL_CRASH_POINT("process_hung");
    /* seen: it is hung, or not any more; the counts are old */
    apl_hung_count(pool, g, hung ? 1 : -1);
    move_turn(pool, g, was_unserved);
    insert_if_room(pool, g, process);
    if (hung)
        pool->header->counters.hung++;
    else
        pool->header->counters.unhung++;
    apl_event_note(token, hung ? APL_EVENT_HUNG : APL_EVENT_UNHUNG, g, process);
}

void apl_process_open(apl_lock_token_t *token, apl_process_t *process)
{
    apl_pool_t *pool = token->pool;
    apl_header_t *h = pool->header;
    apl_group_t *g = apl_process_group(token, process);

    if (process->state != APL_PROCESS_LIVE || !g) {
        process->sessions++;
        return;
    }
    if (process->sessions == 0) {
        apl_list_remove(pool, &process->idle);
        apl_list_remove(pool, &process->pool);
        h->active++;
    }
    else
        apl_heap_remove(pool, &g->order, process);
    process->sessions++;
    insert_if_room(pool, g, process);
}

void apl_process_close(apl_lock_token_t *token, apl_process_t *process)
{
    apl_pool_t *pool = token->pool;
    apl_header_t *h = pool->header;
    apl_group_t *g = apl_process_group(token, process);

    if (process->sessions == 0) {
        pool->damaged = 1;
        return;
    }
    if (process->state != APL_PROCESS_LIVE || !g) {
        process->sessions--;
        if (process->sessions <= process->abandoned)
            token->ring = 1; /* the spawner may end it now */
        return;
    }
    apl_heap_remove(pool, &g->order, process);
    process->sessions--;
    if (process->sessions == 0) {
        apl_list_prepend(pool, &g->idle, &process->idle);
        apl_list_append(pool, &h->inactive, &process->pool);
        h->active--;
        if (__builtin_expect(process->hung, 0))
            apl_process_set_hung(token, process, 0);
    }
    else
        insert_if_room(pool, g, process);
}
