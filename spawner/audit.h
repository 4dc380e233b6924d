/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file audit.h
 * @brief The segment is held against what the spawner knows, and against its
 *        own invariants; what is wrong there is put right.
 *
 * Which processes exist, and whose they are, the registry says. Damage that
 * nobody met yet, a list that lost a slot or a count that is not true, is
 * found by looking at all of it.
 *
 * Trust: nothing is taken from the segment; it is only told.
 */
#ifndef APPPOOL_AUDIT_H
#define APPPOOL_AUDIT_H

#include "spawner/state.h"

/** Look, once a second. */
void audit_look(spawner_t *s);

#endif
