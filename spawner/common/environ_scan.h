/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file environ_scan.h
 * @brief The marks of processes, read so that no process can hold up the
 *        reader.
 *
 * Whoever reads a process's environment waits for a lock of its memory, and
 * there are ways to hold that for as long as one likes. So children of ours
 * read, from one list; while one of them waits, another goes on behind it.
 *
 * libc only: the watchdog uses it too. It still takes seconds at worst: not
 * for the spawner's loop.
 *
 * Crash: the children end with the caller.
 * Trust: a mark is the process's own word.
 */
#ifndef APPPOOL_SPAWNER_COMMON_ENVIRON_SCAN_H
#define APPPOOL_SPAWNER_COMMON_ENVIRON_SCAN_H

#include "spawner/common/procfs.h"

/**
 * Read the marks of all processes that are `wanted`, then call `each` for
 * them.
 * @param each its `mark` is "" where a process bears none, and NULL where
 *             that could not be found out: it waited for a second, or there
 *             was no memory or child to read it
 */
void environ_scan_read(int (*wanted)(const procfs_t *who, void *ctx),
                       void (*each)(const procfs_t *who, const char *mark,
                                    void *ctx),
                       void *ctx);

#endif
