/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file forks.h
 * @brief A job_fork() whose calls a test counts, and that it can make
 *        fail. Link with --wrap=job_fork.
 */
#ifndef APPPOOL_TESTS_UNIT_SUPPORT_FORKS_H
#define APPPOOL_TESTS_UNIT_SUPPORT_FORKS_H

#include <sys/types.h>

typedef struct {
    int tried;   /**< calls */
    int refused; /**< the next ones of them that fail */
    int stopped; /**< children are stopped before they do anything */
    pid_t child; /**< the last one */
} forks_t;

extern forks_t forks;

#endif
