/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/hung.h"

uint32_t apl_hung_credit(const apl_group_t *group)
{
    uint32_t most = group->options.hung_extra;

    return group->hung < most ? group->hung : most;
}

int apl_hung_spares(const apl_group_t *group)
{
    return group->stand_ins < group->hung &&
           group->stand_ins <= group->options.hung_extra;
}

int apl_hung_short(const apl_group_t *group)
{
    uint64_t all = (uint64_t)group->size + group->spawning;

    return all < (uint64_t)group->options.spawn_if_under + group->hung;
}

int apl_hung_has_credit(const apl_group_t *group)
{
    return group->stand_ins < apl_hung_credit(group) && apl_hung_short(group);
}

int apl_hung_exceeded(const apl_pool_t *pool)
{
    const apl_header_t *h = pool->header;

    return h->count + h->spawning - h->replacing > h->max + h->stand_ins;
}

void apl_hung_count(apl_pool_t *pool, apl_group_t *group, int by)
{
    apl_header_t *h = pool->header;
    uint32_t before = apl_hung_credit(group);

    group->hung += (uint32_t)by;
    h->hung += (uint32_t)by;
    h->credit += apl_hung_credit(group) - before;
    if (by < 0)
        apl_hung_recall(pool, group);
}

void apl_hung_count_stand_in(apl_pool_t *pool, const apl_process_t *process,
                             int by)
{
    apl_group_t *g = apl_group_at(pool, process->stands_in);

    if (!g)
        return;
    g->stand_ins += (uint32_t)by;
    pool->header->stand_ins += (uint32_t)by;
}

void apl_hung_hand_on(apl_process_t *process, apl_process_t *heir)
{
    if (process->stands_in == 0)
        return;
    heir->stands_in = process->stands_in;
    APL_STEP("stands_in_heir"); /* seen: both do */
    process->stands_in = 0;
}

static apl_process_t *oldest_stand_in(apl_pool_t *pool,
                                      const apl_group_t *group)
{
    uint32_t i, top = apl_top(&pool->header->top_process, pool->n.processes);
    apl_process_t *oldest = NULL;

    for (i = 1; i <= top; i++) {
        apl_process_t *p = &pool->processes[i];

        if (p->stands_in == APL_GROUP_INDEX(pool, group) &&
            p->state >= APL_PROCESS_WANTED && p->state <= APL_PROCESS_LIVE &&
            (!oldest || p->birth < oldest->birth))
            oldest = p;
    }
    return oldest;
}

void apl_hung_recall(apl_pool_t *pool, apl_group_t *group)
{
    while (group->stand_ins > apl_hung_credit(group)) {
        apl_process_t *p = oldest_stand_in(pool, group);

        if (!p) {
            pool->damaged = 1;
            return;
        }
        apl_hung_count_stand_in(pool, p, -1);
        p->stands_in = 0;
        APL_STEP("recalled"); /* seen: it takes a place as others do */
    }
}

void apl_hung_configure(apl_pool_t *pool, apl_group_t *group,
                        const apl_options_t *options)
{
    uint32_t before = apl_hung_credit(group);

    group->options = *options;
    pool->header->credit += apl_hung_credit(group) - before;
    apl_hung_recall(pool, group);
}
