/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file check_state.h
 * @brief A check that is under way: what it has counted, and how far it is.
 *        Only check.c and check_group.c use it.
 *
 * Lock:  as check.h.
 * Crash: as check.h.
 * Trust: as check.h.
 */
#ifndef APPPOOL_SHM_RECOVERY_CHECK_STATE_H
#define APPPOOL_SHM_RECOVERY_CHECK_STATE_H

#include "shm/recovery/check_list.h"
#include "shm/recovery/finding.h"
#include "shm/recovery/tally.h"

typedef struct apl_check_t apl_check_t;

/* A check works on a handle of its own. A walk along a damaged list marks this
 * handle and not the caller's. */
struct apl_check_t {
    apl_pool_t pool;
    apl_finding_t finding;
    apl_tally_t tally;
    apl_tally_group_t sum; /* over all groups */
    uint32_t credit;       /* likewise */

    uint32_t phase, at;    /* the position: a phase, a slot in it, */
    uint32_t part;         /* and a part of that slot */
    apl_check_list_t walk; /* the list that is walked along */
    uint32_t left;         /* steps until the check returns */
};

/* The result of the check of a slot, or of a part of it. */
enum { APL_PART_BAD, APL_PART_DONE, APL_PART_LATER };

/** Record a finding. @return APL_PART_BAD */
__attribute__((format(printf, 3, 4))) int
apl_check_state_found(apl_check_t *a, int number, const char *format, ...);

/** Go on along a list: check_list.h. */
static inline int apl_check_state_walk(apl_check_t *a, const apl_link_t *head,
                                       uint32_t n,
                                       apl_check_list_member_t *member,
                                       const void *owner)
{
    return apl_check_list_walk(&a->walk, &a->pool, head, n, member, owner,
                               &a->left);
}

#endif
