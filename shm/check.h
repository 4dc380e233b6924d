/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file check.h
 * @brief Do the invariants of format.h hold? Which does not, and where?
 *
 * Lock:  the segment must not change meanwhile: under the lock, or on a
 *        snapshot.
 * Crash: nothing is written.
 * Trust: ends on any bytes, and stays in bounds.
 */
#ifndef APL_CHECK_H
#define APL_CHECK_H

#include "shm/segment.h"

/** The first invariant that does not hold. */
typedef struct {
    int number;     /**< of format.h: 4 = I4; 0: all hold */
    char text[160]; /**< what and where */
} apl_finding_t;

/** @return 1: all invariants hold; 0: *finding says which does not */
int apl_check(const apl_pool_t *pool, apl_finding_t *finding);

#endif
