/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file state.h
 * @brief A spawner without a loop and without processes, for the parts of it
 *        that are fuzzed.
 */
#ifndef APPPOOL_TESTS_FUZZ_STATE_H
#define APPPOOL_TESTS_FUZZ_STATE_H

#include "spawner/process/state.h"

/** The only one. Its runtime directory is made at the first call, in TMPDIR,
 * and is left there. Its error log is kept in memory. */
spawner_t *state_begin(void);

/** The lines that were logged since the last call; NUL-terminated. */
const char *state_log(void);

#endif
