/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/retire.h"

#include "shm/list.h"
#include "shm/process.h"
#include "shm/room.h"

static void retire_booting(apl_held_t *held, apl_group_t *group,
                           uint32_t reason)
{
    apl_pool_t *pool = held->pool;
    uint32_t i, top = pool->header->top_process;

    /* Booting ones are in no list of their group, but they are few and a
     * restart is rare. */
    for (i = 1; i <= top && i < pool->n.processes; i++) {
        apl_process_t *p = &pool->processes[i];

        if (p->state == APL_PROCESS_STARTING &&
            p->group == APL_GROUP_INDEX(pool, group))
            apl_process_leave(held, p, reason);
    }
}

void apl_retire_group(apl_held_t *held, apl_group_t *group, uint32_t reason,
                      int all)
{
    apl_pool_t *pool = held->pool;
    apl_walk_t it;
    uint32_t at;

    it = apl_list_walk(pool, &group->processes, pool->n.processes);
    while ((at = apl_list_next(pool, &it)) != 0) {
        apl_process_t *p = APL_PROCESS_OF(pool, at, member);

        if (p && (all || p->processed > 0 || p->sessions > 0))
            apl_process_leave(held, p, reason);
    }
    if (all && group->spawning > 0)
        retire_booting(held, group, reason);
    /* The first start of the new code is not to pay for the old one's. */
    if (all)
        group->failures = 0;
    if (group->waiting > 0)
        apl_room_want(held, group);
}

void apl_retire_if_due(apl_held_t *held, apl_group_t *group,
                       apl_process_t *process)
{
    const apl_options_t *o = &group->options;
    uint64_t extra = (process->id >> 16) % (o->jitter + 1ull);
    int full =
        o->max_requests != 0 && process->processed >= o->max_requests + extra;

    if (process->state != APL_PROCESS_LIVE)
        return;
    /* always_restart.txt: who waits is not to get a used process. */
    if (!full && !(group->stamp.always && group->waiting > 0))
        return;
    held->pool->header->counters.retired++;
    apl_process_leave(held, process, APL_EVENT_RETIRED);
    /* The place goes to the replacement before it goes to another group. */
    if (group->waiting > 0 || group->size < group->options.min_instances)
        apl_room_want(held, group);
}
