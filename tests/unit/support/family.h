/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file family.h
 * @brief A session of processes: a leader, which is a child of the test, and
 *        the processes that it has started. Each has its own process group.
 */
#ifndef APPPOOL_TESTS_UNIT_SUPPORT_FAMILY_H
#define APPPOOL_TESTS_UNIT_SUPPORT_FAMILY_H

#include <stddef.h>
#include <sys/types.h>

#include "system/procfs.h"

#define FAMILY_MEMBERS 3 /* without the leader */

typedef struct {
    pid_t leader, member[FAMILY_MEMBERS];
    procfs_t is; /* the leader */
    int ends[2]; /* the leader ends when this is closed */
} family_t;

/** Start them. @param memory bytes that each of the members uses */
void family_begin(family_t *f, size_t memory);

/** The leader ends, and is reaped. No signal may have been sent to it: that
 * signal would end it before it reads the end of the pipe. A family that began
 * later has a copy of the descriptor that this leader waits for, so end that
 * family first. */
void family_end_leader(const family_t *f);

/** How many of the members live? */
int family_alive(const family_t *f);

/** Wait until none of them does. */
void family_wait(const family_t *f);

/** End the members, and wait for that. */
void family_kill(const family_t *f);

#endif
