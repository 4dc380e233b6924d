/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file aside.h
 * @brief A number that may take long to find out: a child of ours does it, so
 *        the loop never waits for it.
 *
 * Crash: the child ends with the spawner.
 * Trust: it has no descriptor but the pipe of its answer. Whatever it waits
 *        for, it is killed when its time is up; what it reads must be such
 *        that SIGKILL ends the wait, as all of /proc is.
 */
#ifndef APPPOOL_ASIDE_H
#define APPPOOL_ASIDE_H

#include <stdint.h>

/**
 * Have find(ctx) called in a child.
 * @param seconds it has so long
 * @return descriptor, readable when that is over; -1: errno
 */
int aside_start(int64_t (*find)(void *ctx), void *ctx, unsigned seconds);

/** The number. @return 0, or -1: it was not found out */
int aside_read(int fd, int64_t *number);

#endif
