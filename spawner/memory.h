/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file memory.h
 * @brief AppMemoryLimit: who uses more is replaced, as in a rolling restart:
 *        another process first, then it ends after its requests.
 *
 * Measured is a process with all of its session, so also with the workers of
 * a server that forks. Resident bytes are in /proc/PID/stat, which costs
 * little, but counts shared pages for each who has them; only who is above
 * the limit by that is measured by its part of them (smaps_rollup, for which
 * the kernel walks through its memory).
 *
 * Crash: the next spawner measures anew.
 * Trust: the kernel's word.
 */
#ifndef APPPOOL_MEMORY_H
#define APPPOOL_MEMORY_H

#include "spawner/state.h"

/** A new process is left alone so many times as long as it took to start: a
 * limit that is too low does not make the app start all the time. */
#define MEMORY_REST 10

/** Look at all processes; once a second. */
void memory_look(spawner_t *s);

#endif
