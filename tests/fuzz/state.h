/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file state.h
 * @brief A spawner without a loop and without processes, for the parts of it
 *        that are fuzzed.
 */
#ifndef APPPOOL_TESTS_FUZZ_STATE_H
#define APPPOOL_TESTS_FUZZ_STATE_H

#include "spawner/state/state.h"

/** The one there is; its runtime directory is made the first time, in TMPDIR,
 * and left there; its error log is kept in memory. */
spawner_t *state_begin(void);

/** What was logged since the last time; NUL-terminated. */
const char *state_log(void);

#endif
