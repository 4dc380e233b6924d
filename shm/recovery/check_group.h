/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file check_group.h
 * @brief The parts that check.c is made of, and nobody else's business: a check
 *        that is under way, and the look at one group.
 *
 * Lock:  as check.h.
 * Crash: as check.h.
 * Trust: as check.h.
 */
#ifndef APPPOOL_SHM_RECOVERY_CHECK_GROUP_H
#define APPPOOL_SHM_RECOVERY_CHECK_GROUP_H

#include "shm/recovery/check.h"
#include "shm/recovery/tally.h"
#include "shm/recovery/trail.h"

/* A check works on a handle of its own: walking a damaged list marks the
 * handle, not the caller's. */
struct apl_check_t {
    apl_pool_t pool;
    apl_finding_t finding;
    apl_tally_t tally;
    apl_truth_t sum; /* over all groups */
    uint32_t credit; /* likewise */

    uint32_t phase, at; /* what is looked at: a phase, a slot in it, */
    uint32_t part;      /* and something of that slot */
    apl_trail_t trail;  /* the list that is walked along */
    uint32_t left;      /* steps until the caller wants to be back */
};

/* What looking at a slot, or at a part of it, came to. */
enum { APL_PROOF_BAD, APL_PROOF_DONE, APL_PROOF_LATER };

/** Put a finding down. @return APL_PROOF_BAD */
__attribute__((format(printf, 3, 4))) int
apl_proof_found(apl_check_t *a, int number, const char *format, ...);

/** Go on along a list: trail.h. */
static inline int apl_proof_walk(apl_check_t *a, const apl_link_t *head,
                                 uint32_t n, apl_trail_member_t *member,
                                 const void *owner)
{
    return apl_trail_list(&a->trail, &a->pool, head, n, member, owner,
                          &a->left);
}

#define APL_PROOF_GROUP_PARTS 7

/** Look at one part of a group. @return APL_PROOF_* */
int apl_proof_group(apl_check_t *a, uint32_t i);

#endif
