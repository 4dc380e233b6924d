/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file fd_limit.h
 * @brief How many descriptors the spawner may have, and how many it needs.
 *
 * Lock:  none; the spawner's one thread.
 * Errors: too few are logged: one sentence with the numbers.
 * Crash: no state.
 * Trust: the app table.
 */
#ifndef APPPOOL_SPAWNER_STATE_FD_LIMIT_H
#define APPPOOL_SPAWNER_STATE_FD_LIMIT_H

#include "spawner/state/state.h"

/** Raise the limit to what MaxPoolSize needs, with each table anew. What apps
 * get is s->descriptors: httpd's own. */
void fd_limit_raise(spawner_t *s);

#endif
