/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file environ_scan.h
 * @brief Reads the marks of processes so that no process can hold up the
 *        caller.
 *
 * To read the environment of a process, the kernel takes a lock of its memory.
 * A process can hold that lock as long as it likes. So children of the caller
 * read the environments, from one list. While one child waits, another one
 * continues with the next process.
 *
 * libc only: the watchdog uses it too. It may still take seconds, so the
 * spawner's loop does not call it.
 *
 * Crash: the children end with the caller.
 * Trust: a process may write any mark into its own environment.
 */
#ifndef APPPOOL_SYSTEM_ENVIRON_SCAN_H
#define APPPOOL_SYSTEM_ENVIRON_SCAN_H

#include "system/procfs.h"

/**
 * Read the marks of all processes that are `wanted`, then call `each` for
 * them.
 * @param each its `mark` is "" if the process has none, and NULL if that is
 *             not known: the reader waited for a second, or there was no memory
 *             or child to read it
 */
void environ_scan_read(int (*wanted)(const procfs_t *info, void *ctx),
                       void (*each)(const procfs_t *info, const char *mark,
                                    void *ctx),
                       void *ctx);

#endif
