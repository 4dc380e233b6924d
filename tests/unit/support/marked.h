/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file marked.h
 * @brief Processes that bear a mark, and of which some never let it be read:
 *        in marked.c procfs_mark() is ours. Link with --wrap=procfs_mark.
 *
 * Those who read have little time. What can be read is to be read on a machine
 * that holds them for seconds, too, so time goes by ten times slower until
 * only those are left that keep them waiting: link with --wrap=clock_gettime,
 * --wrap=alarm.
 */
#ifndef APPPOOL_TESTS_UNIT_SUPPORT_MARKED_H
#define APPPOOL_TESTS_UNIT_SUPPORT_MARKED_H

#include <stdint.h>
#include <sys/types.h>

#define MARKED_MAX    40
#define MARKED_SLOWER 10 /* also alarm() */

/** Those that were started, in order. */
extern pid_t marked[MARKED_MAX];
extern int n_marked;

/** So many of the first ones keep those who read their mark waiting. */
extern int n_stuck;

/** Their marks are going to be read. @param own so is that of this process */
void marked_read(int own);

/** At its n-th look at the clock ten seconds have passed. */
extern int marked_held;

/** 16 digits that are this run's alone. */
const char *marked_instance(void);

/** Start one. It is no child of ours, as a sweep would end that unasked. */
pid_t marked_start(const char *instance, uint64_t id);

int marked_is_alive(pid_t pid);

/** End all, and wait for that. */
void marked_end(void);

#endif
