/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file check.h
 * @brief Do the invariants of format.h hold? If not: which one fails, and
 *        where?
 *
 * A check takes a time that is linear in the slots in use. It does not look at
 * slots above the marks of use (header.top_*): the operation that takes such a
 * slot finds what is hidden there. A check can be done in slices:
 *
 *     check = apl_check_begin(copy);
 *     while ((rv = apl_check_go(check, APL_CHECK_SLICE, &finding)) ==
 *            APL_CHECK_MORE)
 *         ... something else ...
 *     apl_check_end(check);
 *
 * Lock:  the segment must not change meanwhile: check under the lock, or check
 *        a snapshot. A check allocates memory, so only tests do it under the
 *        lock.
 * Crash: nothing is written.
 * Trust: a check ends and stays in bounds, whatever the bytes are.
 */
#ifndef APPPOOL_SHM_RECOVERY_CHECK_H
#define APPPOOL_SHM_RECOVERY_CHECK_H

#include "shm/format/pool.h"

/** The first invariant that does not hold. */
typedef struct {
    int number; /**< of format.h: 4 = I4; 0: all hold */
    uint32_t
        slot; /**< of the group, process, session or child; 0: the header */
    char text[160]; /**< what and where */
} apl_finding_t;

/** Have two checks found the same? Numbers in the text may differ. */
static inline int apl_finding_same(const apl_finding_t *a,
                                   const apl_finding_t *b)
{
    return a->number == b->number && a->slot == b->slot;
}

enum {
    APL_CHECK_BAD,  /**< *finding says what does not hold */
    APL_CHECK_GOOD, /**< all invariants hold */
    APL_CHECK_MORE  /**< there is more to look at */
};

typedef struct apl_check_t apl_check_t;

/** @return NULL: there is no memory */
apl_check_t *apl_check_begin(const apl_pool_t *pool);

#define APL_CHECK_SLICE 4000 /* steps that take less than a millisecond */

/** Continue. @param steps the number of slots and links to look at */
int apl_check_go(apl_check_t *check, uint32_t steps, apl_finding_t *finding);

void apl_check_end(apl_check_t *check);

/**
 * The whole check at once.
 * @return 1: all invariants hold; 0: *finding says which one does not. Its
 *         number is 0 if there is no memory for the check
 */
int apl_check(const apl_pool_t *pool, apl_finding_t *finding);

#endif
