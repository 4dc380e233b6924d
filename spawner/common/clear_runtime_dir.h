/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file clear_runtime_dir.h
 * @brief The end of an instance: its runtime directory is emptied. libc only.
 *
 * Where several instances are (spawner/shared/contract.h), the lock and the
 * directory go with the last of them.
 *
 * Crash: may be called again at any time.
 * Trust: nobody but root may put anything there but into a/ID.
 */
#ifndef APPPOOL_SPAWNER_COMMON_CLEAR_RUNTIME_DIR_H
#define APPPOOL_SPAWNER_COMMON_CLEAR_RUNTIME_DIR_H

/**
 * Remove what watchdog and spawner made.
 * @param all httpd's parent is dead: also what was his to remove
 */
void clear_runtime_dir(int dirfd, const char *runtime, int all);

#endif
