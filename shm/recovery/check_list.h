/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file check_list.h
 * @brief Walk along a list or a heap and check it, a few links at a time.
 *
 *     apl_check_list_t walk = {0};
 *     while (apl_check_list_walk(&walk, pool, head, n, member, owner, &left) ==
 *            APL_CHECK_LIST_MORE)
 *         left = 1000;
 *
 * Lock:  the segment must not change meanwhile, as for check.h.
 * Crash: nothing is written.
 * Trust: a walk ends, whatever the bytes are: it passes no link twice, and no
 *        more links than there should be.
 */
#ifndef APPPOOL_SHM_RECOVERY_CHECK_LIST_H
#define APPPOOL_SHM_RECOVERY_CHECK_LIST_H

#include "shm/format/pool.h"

enum {
    APL_CHECK_LIST_MORE,     /**< no steps are left: continue later */
    APL_CHECK_LIST_GOOD,     /**< the list is as it should be */
    APL_CHECK_LIST_TORN,     /**< two neighbours do not agree */
    APL_CHECK_LIST_STRANGER, /**< something is in it that should not be */
    APL_CHECK_LIST_LENGTH /**< it has more members than it should, or fewer */
};

/** The progress of a walk. Zeroed before the walk, and after its end. */
typedef struct {
    uint32_t begun;
    uint32_t at, from; /**< a list's link; a heap's process, and the last one */
    uint32_t n;        /**< members so far */
    uint32_t turns;    /**< steps in the heap that are left */
    uint64_t last;     /**< for `member` */
} apl_check_list_t;

/** May the record with this link be in the list? */
typedef int apl_check_list_member_t(apl_check_list_t *walk,
                                    const apl_pool_t *pool, const void *owner,
                                    uint32_t offset);

/**
 * @param n     members that the list should have
 * @param owner for `member`: whose list it is
 * @param left  steps that may be taken; counted down
 */
int apl_check_list_walk(apl_check_list_t *walk, apl_pool_t *pool,
                        const apl_link_t *head, uint32_t n,
                        apl_check_list_member_t *member, const void *owner,
                        uint32_t *left);

/** The same for the heap of a group, which should have n processes. */
int apl_check_list_walk_heap(apl_check_list_t *walk, const apl_pool_t *pool,
                             const apl_group_t *group, uint32_t n,
                             uint32_t *left);

#endif
