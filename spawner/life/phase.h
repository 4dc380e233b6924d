/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file phase.h
 * @brief The changes of a process's phase that somebody decides: its start
 *        failed, it is ready, it is to stop. life.h has those that time and
 *        its death bring.
 *
 * Crash:  phase and deadline are in the registry before a signal is sent; the
 *         next spawner goes on.
 * Trust:  not concerned.
 */
#ifndef APPPOOL_SPAWNER_LIFE_PHASE_H
#define APPPOOL_SPAWNER_LIFE_PHASE_H

#include "spawner/state/state.h"

/** us: after that time SIGKILL should have ended a process. */
#define PHASE_KILL_LIMIT (10 * SECOND)

/** The start failed at this step (start_step.h), for the reason given in a
 * sentence: kill what is there, write the log and the error page's file. */
void phase_fail(spawner_t *s, process_t *p, int step, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** It accepts connections. */
void phase_ready(spawner_t *s, process_t *p);

/** Send the stop signal to the group now, and KILL when the stop timeout is
 * over. */
void phase_stop(spawner_t *s, process_t *p, const char *why);

/** Send TERM to the group now, and KILL when AppHungStopTimeout is over. */
void phase_kill(spawner_t *s, process_t *p, const char *why);

#endif
