/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file scratch.h
 * @brief The spawner of a test program. It has a runtime directory of its own,
 *        its error log is a file, and it reaps its children as the loop does.
 */
#ifndef APPPOOL_TESTS_UNIT_SUPPORT_SCRATCH_H
#define APPPOOL_TESTS_UNIT_SUPPORT_SCRATCH_H

#include "spawner/process/state.h"

/** A new spawner, whose clock stands at one second. */
spawner_t *scratch_begin(void);

/** Remove its directory. */
int scratch_end(void **state);

/** Forget all its processes. */
int scratch_forget(void **state);

/** Lines of the error log with this in it. */
int scratch_lines(const char *what);

/** Make a program of this script, open at descriptor `at`. */
void scratch_program(int at, const char *script);

/** Wait for the end of a child, or of any child (-1), and reap it as the loop
 * does. */
void scratch_reap(pid_t child);

#endif
