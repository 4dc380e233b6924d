/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file marked.h
 * @brief Processes that bear a mark, and of which some never let it be read:
 *        in marked.c procfs_mark() is ours. Link with --wrap=procfs_mark.
 */
#ifndef MARKED_H
#define MARKED_H

#include <stdint.h>
#include <sys/types.h>

#define MARKED_MAX 40

/** Those that were started, in order. */
extern pid_t marked[MARKED_MAX];
extern int n_marked;

/** So many of the first ones keep those who read their mark waiting. */
extern int n_stuck;

/** 16 digits that are this run's alone. */
const char *marked_instance(void);

/** Start one. It is no child of ours, as a sweep would end that unasked. */
pid_t marked_start(const char *instance, uint64_t id);

int marked_is_alive(pid_t pid);

/** End all, and wait for that. */
void marked_end(void);

#endif
