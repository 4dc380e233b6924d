/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file descriptors.h
 * @brief How many descriptors the spawner may have, and how many it needs.
 *
 * Lock:  none; the spawner's one thread.
 * Errors: too few are logged: one sentence with the numbers.
 * Crash: no state.
 * Trust: the app table.
 */
#ifndef APPPOOL_DESCRIPTORS_H
#define APPPOOL_DESCRIPTORS_H

#include "spawner/state.h"

/** Raise the limit to what MaxPoolSize needs, with each table anew. What apps
 * get is s->descriptors: httpd's own. */
void descriptors_raise(spawner_t *s);

#endif
