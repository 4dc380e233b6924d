/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file claim.h
 * @brief The spawner takes over its runtime directory, alone.
 *
 * The last spawner of this instance leaves processes to adopt. What another
 * instance left there was ended before this one began
 * (mod_apppool/parent/instance.c).
 *
 * Crash: may be repeated.
 */
#ifndef APPPOOL_SPAWNER_STATE_CLAIM_H
#define APPPOOL_SPAWNER_STATE_CLAIM_H

#include "spawner/state/state.h"

/** The instance that the directory was last of, without a table. */
void claim_recall(const runtime_dir_t *rt, char instance[17]);

/**
 * Become the directory's only spawner, and of this instance.
 * @return 0, or -1; that was logged
 */
int claim_instance(spawner_t *s);

#endif
