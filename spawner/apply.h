/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file apply.h
 * @brief A new app table: load it, and make the segment and the running
 *        processes follow.
 *
 * Errors: a table that is refused is logged once; the old one stays in force.
 */
#ifndef APPPOOL_APPLY_H
#define APPPOOL_APPLY_H

#include "spawner/state.h"

/**
 * Load the table if its file is another one than last time.
 * @return 1: a new table is in force
 */
int apply_refresh(spawner_t *s);

/** The segment has lost what it was told: tell it once more. */
void apply_again(void);

/** Bring the segment up to the table, as far as that has to be done yet. */
void apply_table(spawner_t *s);

#endif
