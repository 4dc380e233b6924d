/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/recovery/recovery.h"

#include <stdlib.h>
#include <string.h>

#include "shm/slots/group.h"
#include "shm/format/list.h"

int apl_tally_begin(apl_tally_t *tally, const apl_pool_t *pool)
{
    const apl_header_t *h = pool->header;

    memset(tally, 0, sizeof *tally);
    tally->top.groups = apl_top(&h->top_group, pool->n.groups);
    tally->top.processes = apl_top(&h->top_process, pool->n.processes);
    tally->top.sessions = apl_top(&h->top_session, pool->n.sessions);
    tally->top.children = apl_top(&h->top_child, pool->n.children);
    tally->groups = calloc(tally->top.groups + 1, sizeof *tally->groups);
    tally->processes =
        calloc(tally->top.processes + 1, sizeof *tally->processes);
    tally->children = calloc(tally->top.children + 1, sizeof *tally->children);
    if (tally->groups && tally->processes && tally->children)
        return 1;
    apl_tally_end(tally);
    return 0;
}

/* The tally of the group with that index. For an index out of bounds it is the
 * tally of slot 0, which no group has. */
static apl_tally_group_t *group_tally(apl_tally_t *tally, uint32_t group)
{
    return &tally->groups[group <= tally->top.groups ? group : 0];
}

void apl_tally_group(apl_tally_t *tally, const apl_pool_t *pool, uint32_t index)
{
    const apl_group_t *g = &pool->groups[index];
    uint32_t turn = apl_list_linked(&g->turn) != 0;

    if (g->state == APL_GROUP_FREE) {
        tally->groups_free++;
        return;
    }
    tally->above += apl_list_linked(&g->above) != 0;
    if (apl_group_unserved(g))
        tally->unserved += turn;
    else
        tally->growing += turn;
}

static void count_live(apl_tally_group_t *t, const apl_group_t *g,
                       const apl_process_t *p)
{
    t->live++;
    t->idle += p->sessions == 0;
    t->outdated += (uint32_t)apl_group_outdated(g, p);
    t->marked += p->hung != 0;
    t->hung += p->hung != 0 && p->sessions > 0;
    t->room += (uint32_t)apl_group_has_room(g, p);
}

void apl_tally_process(apl_tally_t *tally, const apl_pool_t *pool,
                       uint32_t index)
{
    const apl_process_t *p = &pool->processes[index];
    const apl_group_t *g = apl_group_at(pool, p->group);
    apl_tally_group_t *t = group_tally(tally, p->group);
    int starts =
        p->state == APL_PROCESS_WANTED || p->state == APL_PROCESS_STARTING;

    if (p->state < APL_PROCESS_STATES)
        tally->states[p->state]++;
    tally->replacing += starts ? p->replaces != 0
                               : p->state == APL_PROCESS_LIVE && p->trial != 0;
    t->spawning += (uint32_t)starts;
    t->leaving += p->state == APL_PROCESS_LEAVING;
    t->unkillable += p->state == APL_PROCESS_LEAVING && p->unkillable != 0;
    if (g && p->state == APL_PROCESS_LIVE)
        count_live(t, g, p);
}

void apl_tally_session(apl_tally_t *tally, const apl_pool_t *pool,
                       uint32_t index)
{
    const apl_session_t *s = &pool->sessions[index];
    const apl_process_t *p = apl_process_at(pool, s->process);
    apl_tally_process_t *load;

    tally->sessions_free += s->state == APL_SESSION_FREE;
    if (s->state != APL_SESSION_FREE) {
        group_tally(tally, s->group)->sessions++;
        tally->children[s->child <= tally->top.children ? s->child : 0]++;
    }
    if (s->state == APL_SESSION_WAITING)
        group_tally(tally, s->group)->waiting++;
    if (s->state != APL_SESSION_OPEN || !p ||
        s->process > tally->top.processes || p->state < APL_PROCESS_LIVE ||
        s->process_generation != p->generation)
        return;
    load = &tally->processes[s->process];
    load->open++;
    load->abandoned += s->child == 0;
    tally->abandoned += s->child == 0;
}

void apl_tally_child(apl_tally_t *tally, const apl_pool_t *pool, uint32_t index)
{
    tally->children_free += pool->children[index].state == APL_CHILD_FREE;
}

void apl_tally_end(apl_tally_t *tally)
{
    free(tally->groups);
    free(tally->processes);
    free(tally->children);
    memset(tally, 0, sizeof *tally);
}
