/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/policy/backoff.h"

#include <stdio.h>

#include "shm/format/list.h"
#include "shm/policy/capacity.h"
#include "shm/slots/group.h"
#include "shm/slots/process.h"

/* Was its start ordered after that failure, or because of it? A child of httpd
 * may have written a time that is still to come. */
APL_UNLOCKED static int is_later(const apl_process_t *p, int64_t failure,
                                 int64_t now)
{
    return p->started >= failure || failure > now;
}

/* The first one in a row is none. */
static uint32_t early_failures(const apl_group_t *g)
{
    return g->young > 0 ? g->young - 1 : 0;
}

static void set_failures(apl_group_t *g, uint32_t n)
{
    g->failures = n;
    if (n == 0)
        g->error[0] = 0; /* error_id stays: failed requests still read it */
}

static void back_off(apl_lock_token_t *token, apl_group_t *g, uint64_t error_id,
                     const char *text)
{
    uint32_t n =
        g->failures > early_failures(g) ? g->failures : early_failures(g);
    int64_t wait = n < 6 ? 1 << n : APL_BACKOFF_MAX;

    if (g->failures == 0)
        g->failing_at = token->now;
    g->failed_at = token->now;
    g->retry_at = token->now + wait * 1000000;
    g->error_id = error_id;
    snprintf(g->error, sizeof g->error, "%s", text);
    APL_CRASH_POINT("back_off_until");
    g->failures++;
    g->n_failed++;
}

void apl_backoff_fail(apl_lock_token_t *token, apl_group_t *group,
                      const apl_process_t *process, uint64_t error_id,
                      const char *text)
{
    /* Other starts that were under way fail at the same time. */
    if (group->failures == 0 || process->started > group->failed_at ||
        group->failed_at > token->now)
        back_off(token, group, error_id, text);
}

void apl_backoff_note_ready(apl_lock_token_t *token, apl_group_t *group)
{
    (void)token;
    set_failures(group, early_failures(group));
}

/* ---- processes that end early ---- */

APL_UNLOCKED static int is_early(const apl_group_t *g, const apl_process_t *p,
                                 int64_t now)
{
    return apl_young_is(p, now) &&
           (g->young == 0 || is_later(p, g->young_at, now));
}

/* A time that is still to come counts as old: apl_young_is_over(). */
APL_UNLOCKED static int has_responded_lately(const apl_group_t *g, int64_t now)
{
    int64_t age = apl_since(now, g->responded_at);

    return g->responded_at != 0 && age < APL_RESPONDED_LATELY &&
           age > -APL_RESPONDED_LATELY;
}

APL_UNLOCKED int apl_backoff_ends_early(const apl_group_t *group,
                                        const apl_process_t *process,
                                        int64_t now)
{
    return group->young > 0 && is_early(group, process, now) &&
           !has_responded_lately(group, now);
}

APL_UNLOCKED int apl_backoff_has_counted(const apl_group_t *group,
                                         const apl_process_t *process)
{
    return process->state == APL_PROCESS_LEAVING && group->young > 1 &&
           group->failures > 0 && group->error_id == process->id;
}

static void end_trials(apl_lock_token_t *token, const apl_group_t *g)
{
    apl_pool_t *pool = token->pool;
    apl_walk_t it = apl_list_walk(pool, &g->processes, pool->n.processes);
    uint32_t at;

    while ((at = apl_list_next(pool, &it)) != 0) {
        apl_process_t *p = APL_PROCESS_OF(pool, at, member);

        if (p && p->trial)
            apl_process_end_trial(token, p);
    }
}

static void forget_row(apl_group_t *g)
{
    /* Otherwise a start has failed since the last one became live. */
    int all = g->failures <= early_failures(g);

    g->young = 0;
    APL_CRASH_POINT("row_ended"); /* seen: the pause goes on */
    if (all)
        set_failures(g, 0);
}

void apl_backoff_end_row(apl_lock_token_t *token, apl_group_t *group)
{
    forget_row(group);
    end_trials(token, group);
    apl_capacity_end_excess(token, group);
}

void apl_backoff_note_response(apl_lock_token_t *token, apl_group_t *group,
                               const apl_process_t *process)
{
    if (process->state != APL_PROCESS_LIVE ||
        apl_group_outdated(group, process))
        return;
    group->responded_at = token->now;
    APL_CRASH_POINT("responded_at"); /* seen: the row goes on */
}

/* Is its start a success by its age, and does that end the row or its trial? */
static int has_stayed(const apl_group_t *g, const apl_process_t *p, int64_t now)
{
    return apl_young_is_over(p, now) &&
           (p->trial || (g->young > 0 && is_later(p, g->young_at, now)));
}

void apl_backoff_check(apl_lock_token_t *token, apl_group_t *group)
{
    apl_pool_t *pool = token->pool;
    apl_walk_t it = apl_list_walk(pool, &group->processes, pool->n.processes);
    uint32_t at;

    if (group->young == 0 && pool->header->replacing == 0)
        return;
    while ((at = apl_list_next(pool, &it)) != 0) {
        const apl_process_t *p = APL_PROCESS_OF(pool, at, member);

        if (p && has_stayed(group, p, token->now)) {
            apl_backoff_end_row(token, group);
            return;
        }
    }
}

int apl_backoff_note_end(apl_lock_token_t *token, apl_group_t *group,
                         const apl_process_t *process)
{
    int fails = apl_backoff_ends_early(group, process, token->now);

    if (has_stayed(group, process, token->now))
        forget_row(group); /* the tick has not seen it yet; nobody leaves */
    if (!is_early(group, process, token->now))
        return 0;
    if (fails)
        back_off(token, group, process->id, "it ended as soon as it was ready");
    group->young_at = token->now;
    APL_CRASH_POINT("early_at");
    if (fails || group->young == 0)
        group->young++; /* otherwise the row stays at 1 */
    return fails;
}
