/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file finding.h
 * @brief What a check of the pool found: an invariant that does not hold.
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: the text may quote names from the segment.
 */
#ifndef APPPOOL_SHM_RECOVERY_FINDING_H
#define APPPOOL_SHM_RECOVERY_FINDING_H

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

#endif
