/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file stranger.h
 * @brief Goes on where another one was killed: a freshly executed process that
 *        knows nothing of the pool but its descriptor.
 */
#ifndef APPPOOL_TESTS_CRASH_STRANGER_H
#define APPPOOL_TESTS_CRASH_STRANGER_H

#include "tests/crash/stage.h"

/** The argument that makes this program a stranger; main() hands the next one
 * to stranger_work(). */
#define STRANGER "--stranger"

/** Execute one. It attaches the segment, enters, which repairs it, and stops.
 * @return its pid, or -1: it could not */
pid_t stranger_enters(const stage_t *stage);

/** Then it finds all processes and children dead, and asks for a process of an
 * application that was never heard of.
 * @return it was served, and all invariants held */
int stranger_goes_on(pid_t pid);

/** What it does. Does not return. */
void stranger_work(const char *descriptor);

#endif
