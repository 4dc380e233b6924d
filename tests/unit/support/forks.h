/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file forks.h
 * @brief helper_job_fork(), which a test counts and refuses: in forks.c it is
 *        ours. Link with --wrap=helper_job_fork.
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
