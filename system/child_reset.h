/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file child_reset.h
 * @brief A forked child gives up the spawner's signal settings and
 *        descriptors. libc only.
 */
#ifndef APPPOOL_SYSTEM_CHILD_RESET_H
#define APPPOOL_SYSTEM_CHILD_RESET_H

/** Set all signals to their default action, and block none. */
void child_reset_signals(void);

/** Close all descriptors above standard error, except `keep`.
 * @return 0, or -1 with errno: some are still open */
int child_reset_descriptors(int keep);

#endif
