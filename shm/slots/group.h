/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file group.h
 * @brief One application: find it, add it, apply its options, choose one of
 *        its processes.
 *
 * Lock:  all but apl_group_key() and apl_group_index() need it.
 * Crash: a group exists from the store of its state on.
 * Trust: names are compared within their bounds.
 */
#ifndef APPPOOL_SHM_SLOTS_GROUP_H
#define APPPOOL_SHM_SLOTS_GROUP_H

#include "shm/lock/lock_token.h"

/** An application as the configuration knows it. Constant. */
typedef struct {
    const char *name; /**< of the group; < APL_NAME_MAX bytes */
    const char *root; /**< AppRoot; cut off where too long */
    uint64_t key;     /**< apl_group_key(name) */
    apl_options_t options;
} apl_app_t;

/** The hash of a group's name (FNV-1a, 64 bit). */
uint64_t apl_group_key(const char *name);

/** The head of the hash bucket for groups with that key. */
apl_link_t *apl_group_bucket(const apl_pool_t *pool, uint64_t key);

/** The index of the group, without the lock. 0: there is none, or it was missed
 * because the list is changing. */
uint32_t apl_group_index(apl_pool_t *pool, uint64_t key, const char *name);

/** @return NULL: there is none; or there is damage, and token->pool says so */
apl_group_t *apl_group_find(apl_lock_token_t *token, uint64_t key,
                            const char *name);

/**
 * The group of an app. If there is none, a new one with the options of the app
 * is added.
 * @return NULL: the slot array is full; or there is damage, and token->pool
 *         says so
 */
apl_group_t *apl_group_find_or_add(apl_lock_token_t *token,
                                   const apl_app_t *app);

/** Apply options. @return 1: they differ from the options before */
int apl_group_configure(apl_lock_token_t *token, apl_group_t *group,
                        const apl_options_t *options);

/** Free the slot of a group that has no processes and no waiters. */
void apl_group_free(apl_lock_token_t *token, apl_group_t *group);

/** Is there no group with that name, and room for one in its bucket? */
int apl_group_can_add(apl_pool_t *pool, uint64_t key, const char *name);

/** Link a group that can be added into its bucket; for repair.c. */
void apl_group_link(apl_pool_t *pool, apl_group_t *group);

/**
 * The process that the next request gets: the idle one that was used last;
 * else, where processes are shared, the one with the fewest sessions that has
 * room. A hung process is taken only if there is no other.
 * @return NULL: none has room
 */
apl_process_t *apl_group_pick(apl_lock_token_t *token, apl_group_t *group);

/**
 * The number of requests that a process takes at a time: AppConcurrency. With
 * `auto` it is the number that the process was started with. So an old process
 * keeps its number when the code changes.
 * @return 0: no limit
 */
static inline uint32_t apl_concurrency(const apl_options_t *options,
                                       const apl_wire_t *wire)
{
    uint32_t n = options->concurrency;

    if (n == APL_CONCURRENCY_AUTO)
        n = wire->concurrency;
    return n == APL_CONCURRENCY_AUTO ? 1 : n;
}

/** The number of requests that this process of the group takes at a time.
 * @return 0: no limit */
static inline uint32_t apl_group_concurrency(const apl_group_t *group,
                                             const apl_process_t *process)
{
    return apl_concurrency(&group->options, &process->wire);
}

/**
 * The number of sessions that a process of the group may have: its
 * concurrency, and also its queue where each process has its own queue.
 * @return UINT32_MAX: no limit
 */
uint32_t apl_group_limit(const apl_group_t *group,
                         const apl_process_t *process);

/** Can a busy process take one more session? */
int apl_group_has_room(const apl_group_t *group, const apl_process_t *process);

/** Does the group have more unkillable processes than AppMaxUnkillable? Then
 * none of its processes is started. */
static inline int apl_group_too_many_unkillable(const apl_group_t *group)
{
    return group->options.unkillable_stop != 0 &&
           group->unkillable >= group->options.unkillable_stop;
}

/** Is the app drained? Only the value 1 says so. Any other value is damage. An
 * app that counted as drained because of damage would not be started again. */
static inline int apl_group_drained(const apl_group_t *group)
{
    return group->drained == 1;
}

/** May no process of the group be started, because its app is drained or no
 * longer in the configuration? */
static inline int apl_group_closed(const apl_group_t *group)
{
    return group->retired || apl_group_drained(group);
}

/** Did the last starts of the group fail, or did its last process end early
 * (policy/backoff.h)? Then no process of another group leaves for a start. */
static inline int apl_group_fails(const apl_group_t *group)
{
    return group->failures != 0 || group->young != 0;
}

/** Is the group unserved: does it have no process, or only hung ones? */
static inline int apl_group_unserved(const apl_group_t *group)
{
    return group->size == group->hung;
}

/** The most starts of a group at a time, where a template forks them. */
#define APL_GROUP_FORKS 8

/**
 * May a process be started now, apart from the limits? A group has one start at
 * a time. Where a template of its present code is ready, a start takes
 * milliseconds. There it may have as many as its waiting requests need, at most
 * APL_GROUP_FORKS. But not while its starts fail, or after an early end. After
 * two early ends (policy/backoff.h), none is started while the newest process
 * is young.
 */
int apl_group_may_start(const apl_lock_token_t *token,
                        const apl_group_t *group);

/** Does the group have as many processes as it may have? Those that are being
 * started count. */
int apl_group_at_limit(const apl_group_t *group);

/** May one more process be started, apart from the limit of the pool? */
int apl_group_may_grow(const apl_lock_token_t *token, const apl_group_t *group);

/**
 * Does the group have more processes than its limit allows? Or does the pool
 * have more, and the group can spare one? A limit may have been lowered, and
 * hung processes may have recovered.
 */
int apl_group_exceeds_limit(const apl_lock_token_t *token,
                            const apl_group_t *group);

/** Does the process run code from before a rolling restart? */
int apl_group_outdated(const apl_group_t *group, const apl_process_t *process);

#endif
