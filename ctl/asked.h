/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file asked.h
 * @brief The command line of apppoolctl.
 */
#ifndef APPPOOL_CTL_ASKED_H
#define APPPOOL_CTL_ASKED_H

typedef struct {
    const char *dir;
    int raw;
    int follow;
    const char *seconds, *times; /**< of top */
    int wait;
    const char *timeout; /**< of --wait */
    const char *how;     /**< "--rolling", "--blocking", or NULL: not given */
    const char *const *words;
    int n;
} asked_t;

#endif
