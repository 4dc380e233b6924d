/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/policy/retire.h"

#include "shm/slots/group.h"
#include "shm/format/list.h"
#include "shm/slots/process.h"
#include "shm/slots/queue.h"
#include "shm/policy/capacity.h"

static void retire_booting(apl_lock_token_t *token, apl_group_t *group,
                           uint32_t reason)
{
    apl_pool_t *pool = token->pool;
    uint32_t i, top = group->spawning > 0 ? pool->header->top_process : 0;

    /* Booting processes are in no list of their group, so this looks at all
     * slots. It is rarely called. An order that the spawner has not taken yet
     * stays, because it will start the new code. */
    for (i = 1; i <= top && i < pool->n.processes; i++) {
        apl_process_t *p = &pool->processes[i];

        if (p->group != APL_GROUP_INDEX(pool, group))
            continue;
        if (p->state == APL_PROCESS_STARTING)
            apl_process_leave(token, p, reason);
        else if (p->state == APL_PROCESS_WANTED && apl_group_closed(group))
            apl_process_free(token, p);
    }
}

static void retire_live(apl_lock_token_t *token, apl_group_t *group,
                        uint32_t reason, int unused_too)
{
    apl_pool_t *pool = token->pool;
    apl_walk_t it = apl_list_walk(pool, &group->processes, pool->n.processes);
    uint32_t at;

    while ((at = apl_list_next(pool, &it)) != 0) {
        apl_process_t *p = APL_PROCESS_OF(pool, at, member);

        if (p && (unused_too || p->processed > 0 || p->sessions > 0))
            apl_process_leave(token, p, reason);
    }
}

static void retire_all(apl_lock_token_t *token, apl_group_t *group,
                       uint32_t reason)
{
    retire_live(token, group, reason, 1);
    retire_booting(token, group, reason);
    if (group->waiting > 0)
        apl_capacity_ask(token, group);
}

int apl_retire_removed(apl_lock_token_t *token, apl_group_t *group)
{
    if (group->waiting == 0) {
        if (group->size + group->spawning > 0)
            retire_all(token, group, APL_EVENT_REMOVED);
        return 0;
    }
    return group->size + group->spawning == 0 &&
           apl_queue_fail(token, group, APL_ESTOPPING);
}

int apl_retire_drained(apl_lock_token_t *token, apl_group_t *group)
{
    if (group->size + group->spawning > 0)
        retire_all(token, group, APL_EVENT_DRAINED);
    return apl_queue_fail(token, group, APL_EDRAINED);
}

void apl_retire_closed(apl_lock_token_t *token, apl_group_t *group)
{
    int left = 0;

    if (apl_group_drained(group))
        left = apl_retire_drained(token, group);
    else if (group->retired)
        left = apl_retire_removed(token, group);
    else if (apl_group_too_many_unkillable(group) &&
             group->size + group->spawning == 0)
        left = apl_queue_fail(token, group, APL_EUNKILLABLE);
    if (left)
        token->ring = 1; /* the next tick does the rest */
}

void apl_retire_used(apl_lock_token_t *token, apl_group_t *group)
{
    retire_live(token, group, APL_EVENT_RESTART, 0);
    if (group->waiting > 0)
        apl_capacity_ask(token, group);
}

void apl_retire_restart(apl_lock_token_t *token, apl_group_t *group,
                        int rolling)
{
    group->n_restarts++;
    token->pool->header->counters.restarts++;
    /* Failures of the old code must not delay the first start of the new. */
    group->failures = group->young = 0;
    group->responded_at = 0; /* nor must its responses excuse the new one */
    if (!rolling) {
        retire_all(token, group, APL_EVENT_RESTART);
        return;
    }
    retire_booting(token, group, APL_EVENT_RESTART);
    /* 0 is the revision of processes that are outdated in any case. */
    group->revision = group->revision + 1 != 0 ? group->revision + 1 : 1;
    APL_CRASH_POINT("restart_revision");
    group->outdated = group->size;
    if (group->waiting > 0)
        apl_capacity_ask(token, group);
    apl_capacity_replace_outdated(token, group);
}

/* ---- MaxRequests ---- */

/* MaxRequests and the jitter of this process. Its id is random. */
static uint64_t request_limit(const apl_group_t *group,
                              const apl_process_t *process)
{
    const apl_options_t *o = &group->options;

    return o->max_requests == 0
               ? UINT64_MAX
               : o->max_requests + (process->id >> 16) % (o->jitter + 1ull);
}

static int is_full(const apl_group_t *group, const apl_process_t *process)
{
    return process->processed >= request_limit(group, process);
}

/* Is it time to start the replacement? Yes when a tenth of the requests is
 * left. Yes also after half of them, if the rest will be used up before each
 * process of the group has booted, plus one boot more: processes are replaced
 * one by one. */
static int is_nearly_full(const apl_lock_token_t *token,
                          const apl_group_t *group,
                          const apl_process_t *process)
{
    uint64_t limit = request_limit(group, process);
    uint64_t served = __atomic_load_n(&process->processed, __ATOMIC_RELAXED);
    uint64_t left = served < limit ? limit - served : 0;
    int64_t age = apl_since(token->now, process->ready_at);
    int64_t boot = apl_since(process->ready_at, process->started), lasts;

    if (limit < 10 || limit == UINT64_MAX || served < left)
        return 0;
    if (left <= limit / 10)
        return 1;
    lasts = age / (int64_t)served * (int64_t)left;
    return lasts / (group->size + 1ll) < boot;
}

/* The group may have a start that was to replace a process. That start takes
 * the place that becomes free now. It is counted from now on, so that no other
 * start gets the same place. */
static void count_replacement(apl_lock_token_t *token, const apl_group_t *group)
{
    apl_pool_t *pool = token->pool;
    apl_header_t *h = pool->header;
    uint32_t i, top = group->spawning > 0 ? h->top_process : 0;

    for (i = 1; i <= top && i < pool->n.processes; i++) {
        apl_process_t *p = &pool->processes[i];

        if (p->group != APL_GROUP_INDEX(pool, group) || !p->replaces ||
            (p->state != APL_PROCESS_WANTED &&
             p->state != APL_PROCESS_STARTING))
            continue;
        p->replaces = 0;
        APL_CRASH_POINT("retire_replaces");
        /* seen: it replaces no process, but header.replacing has it */
        h->replacing--;
    }
}

static void retire(apl_lock_token_t *token, apl_group_t *group,
                   apl_process_t *process)
{
    token->pool->header->counters.retired++;
    count_replacement(token, group);
    apl_process_leave(token, process, APL_EVENT_RETIRED);
    /* The new process gets the place, unless another group waits for longer. */
    if (group->waiting > 0 || group->size < group->options.min_instances)
        apl_capacity_ask(token, group);
}

/* A process has served MaxRequests. While starts fail it may be the last one
 * that works. Then it continues until another process replaces it. */
static void retire_full(apl_lock_token_t *token, apl_group_t *group,
                        apl_process_t *process)
{
    if (group->failures != 0)
        apl_retire_outdate(token, group, process, APL_EVENT_RETIRED);
    else
        retire(token, group, process);
}

/* ---- one by one ---- */

void apl_retire_outdate(apl_lock_token_t *token, apl_group_t *group,
                        apl_process_t *process, uint32_t reason)
{
    if (!apl_group_outdated(group, process)) {
        process->reason = reason;
        APL_CRASH_POINT("outdated_reason");
        process->revision = 0;
        APL_CRASH_POINT("outdated");
        group->outdated++;
    }
    apl_capacity_replace_outdated(token, group);
}

int apl_retire_replaced(apl_lock_token_t *token, apl_group_t *group,
                        apl_process_t *process)
{
    apl_pool_t *pool = token->pool;
    apl_walk_t it = apl_list_walk(pool, &group->processes, pool->n.processes);
    apl_process_t *leaver = NULL;
    uint32_t at;

    while ((at = apl_list_next(pool, &it)) != 0) {
        apl_process_t *p = APL_PROCESS_OF(pool, at, member);

        if (!p || p == process || !apl_group_outdated(group, p))
            continue;
        if (!leaver || p->sessions == 0)
            leaver = p;
        if (p->sessions == 0)
            break;
    }
    if (!leaver)
        return 0;
    if (leaver->reason == APL_EVENT_RETIRED)
        pool->header->counters.retired++;
    apl_process_leave(token, leaver,
                      leaver->reason == APL_EVENT_RETIRED ? APL_EVENT_RETIRED
                                                          : APL_EVENT_RESTART);
    return 1;
}

void apl_retire_if_due(apl_lock_token_t *token, apl_group_t *group,
                       apl_process_t *process)
{
    if (process->state != APL_PROCESS_LIVE)
        return;
    /* always_restart.txt: a waiter must not get a process that was used. */
    if (apl_group_exceeds_limit(token, group))
        apl_process_leave(token, process, APL_EVENT_TRIMMED);
    else if (group->stamp.always && group->waiting > 0)
        retire(token, group, process);
    else if (is_full(group, process))
        retire_full(token, group, process);
    else if (is_nearly_full(token, group, process))
        apl_retire_outdate(token, group, process, APL_EVENT_RETIRED);
}

void apl_retire_missed(apl_lock_token_t *token)
{
    apl_pool_t *pool = token->pool;
    apl_walk_t it =
        apl_list_walk(pool, &pool->header->inactive, pool->n.processes);
    uint32_t at, left = APL_RETIRE_MISSED_MAX;

    while (left > 0 && (at = apl_list_next(pool, &it)) != 0) {
        apl_process_t *p = APL_PROCESS_OF(pool, at, pool);
        apl_group_t *g = p ? apl_process_group(token, p) : NULL;

        if (!g || !is_full(g, p))
            continue;
        retire_full(token, g, p);
        left--;
    }
}
