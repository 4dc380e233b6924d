/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file young.h
 * @brief Is the start of a live process a success yet?
 *
 * Lock:  none; without it, the answer is a guess.
 * Crash: nothing is written.
 * Trust: times are any numbers.
 */
#ifndef APPPOOL_SHM_SLOTS_YOUNG_H
#define APPPOOL_SHM_SLOTS_YOUNG_H

#include "shm/lock/lock_token.h"

#define APL_YOUNG 1000000 /* us */

/**
 * Has the live process been ready for APL_YOUNG? A child of httpd may have
 * written a time that is still to come. Then the process counts as old, because
 * it would be young for ever. A little later than `now` is possible: another
 * process read its clock after this one.
 */
APL_UNLOCKED static inline int apl_young_is_over(const apl_process_t *process,
                                                 int64_t now)
{
    int64_t age = apl_since(now, process->ready_at);

    return age >= APL_YOUNG || age < -APL_YOUNG;
}

/** Has the live process responded to no request yet, and is it younger than
 * APL_YOUNG? If it ended now, its start would not have been a success. */
APL_UNLOCKED static inline int apl_young_is(const apl_process_t *process,
                                            int64_t now)
{
    return !process->responded && !apl_young_is_over(process, now);
}

#endif
