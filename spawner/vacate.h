/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file vacate.h
 * @brief The end of an instance: its runtime directory is emptied. libc only.
 *
 * Where several instances are (spawner/contract.h), the lock and the
 * directory go with the last of them.
 *
 * Crash: may be called again at any time.
 * Trust: nobody but root may put anything there but into a/ID.
 */
#ifndef APPPOOL_VACATE_H
#define APPPOOL_VACATE_H

/**
 * Remove what watchdog and spawner made.
 * @param all httpd's parent is dead: also what was his to remove
 */
void vacate_directory(int dirfd, const char *runtime, int all);

#endif
