/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file throttle.h
 * @brief When is a process that died started again? At once; but one that
 *        dies again and again must not take the processor from httpd, nor
 *        fill the log. libc only.
 *
 * Each death is a debt of one, and two seconds of life pay one back. With a
 * debt above five the next start waits, a second longer each time, up to ten.
 */
#ifndef APPPOOL_SPAWNER_WATCHDOG_THROTTLE_H
#define APPPOOL_SPAWNER_WATCHDOG_THROTTLE_H

#include <stdint.h>

typedef struct {
    int debt;
} throttle_t;

/** It died. @param lived ms @return how long the next start waits, s */
int throttle_died(throttle_t *t, int64_t lived);

#endif
