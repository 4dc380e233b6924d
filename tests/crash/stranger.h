/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file stranger.h
 * @brief The stranger: a new program that continues where a process was killed.
 *        It knows only the descriptor of the pool.
 */
#ifndef APPPOOL_TESTS_CRASH_STRANGER_H
#define APPPOOL_TESTS_CRASH_STRANGER_H

#include "tests/crash/stage.h"

/** The argument that makes this program a stranger; main() passes the next one
 * to stranger_work(). */
#define STRANGER "--stranger"

/** Execute a stranger. It attaches the segment, enters, which repairs the
 * pool, and stops. @return its pid; -1: that failed */
pid_t stranger_enters(const stage_t *stage);

/** Let the stranger continue. It finds all processes and children dead, and
 * asks for a process of a new application. @return 1: it was served, and all
 * invariants held */
int stranger_goes_on(pid_t pid);

/** The work of a stranger. Does not return. */
void stranger_work(const char *descriptor);

#endif
