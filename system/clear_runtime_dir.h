/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file clear_runtime_dir.h
 * @brief The end of an instance: its runtime directory is emptied. libc only.
 *
 * Where there are several instances (base/contract.h), the lock and
 * the directory are removed with the last one.
 *
 * Crash: may be called again at any time.
 * Trust: only root may put files there, except into a/ID.
 */
#ifndef APPPOOL_SYSTEM_CLEAR_RUNTIME_DIR_H
#define APPPOOL_SYSTEM_CLEAR_RUNTIME_DIR_H

/**
 * Remove what watchdog and spawner made.
 * @param all httpd's parent is dead: also remove what it made
 */
void clear_runtime_dir(int dirfd, const char *runtime, int all);

#endif
