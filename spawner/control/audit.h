/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file audit.h
 * @brief Compares the segment with the records of the spawner, checks its
 *        invariants, and corrects what is wrong.
 *
 * The registry says which processes exist, and to which app they belong. It may
 * be that no verb notices a list that has lost a slot, or a wrong count. A
 * proof of all invariants finds it.
 *
 * Lock:  takes and gives back the pool lock, for the copy and for each verb.
 * Trust: nothing is taken over from the segment; it is only corrected.
 */
#ifndef APPPOOL_SPAWNER_CONTROL_AUDIT_H
#define APPPOOL_SPAWNER_CONTROL_AUDIT_H

#include "spawner/process/state.h"

/** Compare the segment with the records. Call this once a second. */
void audit_check(spawner_t *s);

/**
 * Prove all invariants, and repair what two proofs in a row find. Call this in
 * each turn of the loop: a call takes less than a millisecond, and wakes the
 * loop for the next one. A proof begins every two seconds.
 */
void audit_prove(spawner_t *s);

#endif
