/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file ready.h
 * @brief Finds out whether a booting app accepts connections: connects to it,
 *        and checks whether the app takes the connection out of the queue of
 *        its listening socket.
 *
 * This connection is the probe. It sends nothing. For the app it is a client
 * that went away. With AppReady notify, the app must also say READY=1. With
 * AppReady /path, a request for that path comes last (warmup.h).
 *
 * Crash: a READY=1 that comes while no spawner runs is lost. So an adopted
 *        process counts as ready when it accepts connections and has said
 *        nothing for five seconds.
 * Trust: the process that listens at the app's address counts as the app. On a
 *        port, only a process of the app's user, or of root, may listen.
 */
#ifndef APPPOOL_SPAWNER_START_READY_H
#define APPPOOL_SPAWNER_START_READY_H

#include "spawner/process/state.h"

/** Check the processes that boot. Some of them may be ready now. */
void ready_check(spawner_t *s);

#define READY_TEXT_MAX 256

/** For a process that took too long: what is missing? "it did not ..." */
const char *ready_missing(const spawner_t *s, const process_t *p,
                          char text[READY_TEXT_MAX]);

#endif
