/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file marked.h
 * @brief Processes with a mark. Some of them never let their mark be read: the
 *        linker wraps procfs_mark(). Link with --wrap=procfs_mark.
 *
 * The readers of marks have little time. On a machine that stops them for
 * seconds, they must still read each mark that can be read. So time runs ten
 * times slower until only those readers are left that are blocked. Link with
 * --wrap=clock_gettime, --wrap=alarm.
 */
#ifndef APPPOOL_TESTS_UNIT_SUPPORT_MARKED_H
#define APPPOOL_TESTS_UNIT_SUPPORT_MARKED_H

#include <stdint.h>
#include <sys/types.h>

#define MARKED_MAX    40
#define MARKED_SLOWER 10 /* also alarm() */

/** The processes that were started, in order. */
extern pid_t marked[MARKED_MAX];
extern int n_marked;

/** The number of the first ones that block the readers of their mark. */
extern int n_stuck;

/** Their marks are read next. @param own 1: also the mark of this process */
void marked_read(int own);

/** At this look at the clock, ten seconds have passed. */
extern int marked_held;

/** 16 digits that only this run has. */
const char *marked_instance(void);

/** Start a process. It is not a child of the test: a sweep would end a child
 * in any case. */
pid_t marked_start(const char *instance, uint64_t id);

int marked_is_alive(pid_t pid);

/** End all, and wait for that. */
void marked_end(void);

#endif
