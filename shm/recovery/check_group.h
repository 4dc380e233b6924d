/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file check_group.h
 * @brief The part of a check (check.h) that looks at one group.
 *
 * Lock:  as check.h.
 * Crash: as check.h.
 * Trust: as check.h.
 */
#ifndef APPPOOL_SHM_RECOVERY_CHECK_GROUP_H
#define APPPOOL_SHM_RECOVERY_CHECK_GROUP_H

#include "shm/recovery/check_state.h"

#define APL_CHECK_GROUP_PARTS 7

/** Look at one part of a group. @return APL_PART_* */
int apl_check_group(apl_check_t *a, uint32_t i);

#endif
