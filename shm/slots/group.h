/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file group.h
 * @brief One application: find it, add it, apply its options, choose a
 *        process of it.
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

/** Hash of a group's name (FNV-1a, 64 bit). */
uint64_t apl_group_key(const char *name);

/** The head of the hash bucket for groups of that key. */
apl_link_t *apl_group_bucket(const apl_pool_t *pool, uint64_t key);

/** Index of the group, without the lock; 0: not found, or just not seen. */
uint32_t apl_group_index(apl_pool_t *pool, uint64_t key, const char *name);

/** @return NULL: there is none; or there is damage, and token->pool says so */
apl_group_t *apl_group_find(apl_lock_token_t *token, uint64_t key,
                            const char *name);

/**
 * The group of an app; where there is none, a new one with its options.
 * @return NULL: the table is full; or there is damage, and token->pool says so
 */
apl_group_t *apl_group_find_or_add(apl_lock_token_t *token,
                                   const apl_app_t *app);

/** Apply options. @return 1: they differ from those that were there */
int apl_group_configure(apl_lock_token_t *token, apl_group_t *group,
                        const apl_options_t *options);

/** Free the slot of a group without processes and waiters. */
void apl_group_free(apl_lock_token_t *token, apl_group_t *group);

/** Is there no group of that name, and room for one in its bucket? */
int apl_group_can_add(apl_pool_t *pool, uint64_t key, const char *name);

/** Put a group that fits where its name is found; for repair.h. */
void apl_group_link(apl_pool_t *pool, apl_group_t *group);

/**
 * The process that a request should get: the idle one that was used last, or
 * where processes are shared, the one with the fewest sessions that has room;
 * a hung one only if there is no other.
 * @return NULL: none has room
 */
apl_process_t *apl_group_pick(apl_lock_token_t *token, apl_group_t *group);

/**
 * Requests that a process takes at a time: what AppConcurrency says; or with
 * auto, what that process is made for, so an old one keeps its number when the
 * code changes.
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

/** The same, of a process of the group. */
static inline uint32_t apl_group_concurrency(const apl_group_t *group,
                                             const apl_process_t *process)
{
    return apl_concurrency(&group->options, &process->wire);
}

/**
 * How many sessions a process of the group may have: its concurrency, and
 * where each process has a queue of its own, that queue too.
 * @return UINT32_MAX: no limit
 */
uint32_t apl_group_limit(const apl_group_t *group,
                         const apl_process_t *process);

/** Does a busy process take one more? */
int apl_group_has_room(const apl_group_t *group, const apl_process_t *process);

/** Has it more zombies than AppMaxUnkillable? Then nothing more is started. */
static inline int apl_group_too_many_unkillable(const apl_group_t *group)
{
    return group->options.unkillable_stop != 0 &&
           group->unkillable >= group->options.unkillable_stop;
}

/** Is it being worked on? It is 1 that says so, and no damage: nobody else would
 * put the app back to work. */
static inline int apl_group_drained(const apl_group_t *group)
{
    return group->drained == 1;
}

/** Is nothing more of it to be started: is it gone from the configuration, or
 * drained? */
static inline int apl_group_closed(const apl_group_t *group)
{
    return group->retired || apl_group_drained(group);
}

/** Has it no process but hung ones? */
static inline int apl_group_starves(const apl_group_t *group)
{
    return group->size == group->hung;
}

/** May a process be started now, but for the limits? */
int apl_group_may_start(const apl_lock_token_t *token,
                        const apl_group_t *group);

/** Has it as many processes as it may have? */
int apl_group_at_limit(const apl_group_t *group);

/** May one more be started, but for the pool's limit? */
int apl_group_may_grow(const apl_lock_token_t *token, const apl_group_t *group);

/** Has the group more processes than its limit allows? Or does the pool, and
 * the group can spare one? Limits fall, and those who hung recover. */
int apl_group_above(const apl_lock_token_t *token, const apl_group_t *group);

/** Does the process run code from before a rolling restart? */
int apl_group_outdated(const apl_group_t *group, const apl_process_t *process);

#endif
