/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file phase.h
 * @brief The changes of the phase of a process that the spawner decides: its
 *        start failed, it is ready, its start was a success, it has to stop.
 *        life.h has the changes that come with time or with its death.
 *
 * A start is a success when the process has responded to a request, or has been
 * ready for a second. Without this rule, a process that ends as soon as it is
 * ready would be a success each time. shm/policy/backoff.h has the whole rule.
 *
 * Crash:  phase and deadline are in the registry before a signal is sent; the
 *         next spawner continues. The start of a process that was ready before
 *         this spawner began is a success.
 * Trust:  if the segment is wrong about requests, a start counts as a success
 *         too early. Nothing else happens.
 */
#ifndef APPPOOL_SPAWNER_END_PHASE_H
#define APPPOOL_SPAWNER_END_PHASE_H

#include "spawner/process/state.h"

/** us: after that time SIGKILL should have ended a process. */
#define PHASE_KILL_LIMIT (10 * SECOND)

/** The start failed at this step (state.h); `format` is a sentence that
 * says why. Kill the process, write the log and the file for the error page. */
void phase_fail(spawner_t *s, process_t *p, int step, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** It accepts connections. */
void phase_ready(spawner_t *s, process_t *p);

/** It is dead or refuses connections: is that a failed start to the pool,
 * because it ended by itself as soon as it was ready? */
int phase_ended_early(const spawner_t *s, const process_t *p);

/** If its start is a success by now, forget the failed starts of its app, and
 * what it has printed so far. */
void phase_check_start(spawner_t *s, process_t *p);

/** Send the stop signal to the group now, and KILL when the stop timeout is
 * over. */
void phase_stop(spawner_t *s, process_t *p, const char *why);

/** Send KILL now to a process that was not asked to end. */
void phase_end_now(spawner_t *s, process_t *p, const char *why);

/** Send TERM to the group now, and KILL when AppHungStopTimeout is over. */
void phase_kill(spawner_t *s, process_t *p, const char *why);

#endif
