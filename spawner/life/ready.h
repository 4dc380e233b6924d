/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file ready.h
 * @brief Does a booting app accept connections? Connect to it, and see whether
 *        the connection is taken out of its listening socket's queue.
 *
 * Nothing is sent: to the app it is a client that went away. With AppReady
 * notify it has to say READY=1, too; with a path, that is asked for in the
 * end (warmup.h).
 *
 * Crash: what was said while no spawner ran is lost, so a process that was
 *        taken over is believed to be ready when it accepts connections and
 *        says nothing for five seconds.
 * Trust: whoever listens at the app's address is the app; a port is its own
 *        only if it is the app's user, or root, who listens there.
 */
#ifndef APPPOOL_SPAWNER_LIFE_READY_H
#define APPPOOL_SPAWNER_LIFE_READY_H

#include "spawner/state/state.h"

/** Look at those that boot; some of them may be ready now. */
void ready_check(spawner_t *s);

#define READY_TEXT_MAX 256

/** What is missing, for one that took too long: "it did not ...". */
const char *ready_missing(const spawner_t *s, const process_t *p,
                          char text[READY_TEXT_MAX]);

#endif
