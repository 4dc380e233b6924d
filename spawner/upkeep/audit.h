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
#ifndef APPPOOL_SPAWNER_UPKEEP_AUDIT_H
#define APPPOOL_SPAWNER_UPKEEP_AUDIT_H

#include "spawner/state/state.h"

/** Compare the segment with the records; once a second. */
void audit_check(spawner_t *s);

/**
 * Look at all invariants, and repair what two looks in a row find. To be called
 * in each turn of the loop: it does a part that takes less than a millisecond,
 * and says when it is to be called again. A look begins every two seconds.
 */
void audit_prove(spawner_t *s);

#endif
