/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file claim.h
 * @brief Makes the spawner the only spawner of its runtime directory.
 *
 * The last spawner of this instance leaves processes to adopt. The processes of
 * another instance were ended before this instance began
 * (mod_apppool/parent/instance.c).
 *
 * Crash: may be repeated.
 */
#ifndef APPPOOL_SPAWNER_PROCESS_CLAIM_H
#define APPPOOL_SPAWNER_PROCESS_CLAIM_H

#include "spawner/process/state.h"

/** Read the last instance of the directory from its file. For a spawner without
 * a table. */
void claim_recall(const runtime_dir_t *rt, char instance[17]);

/**
 * Become the only spawner of the directory, and write the name of the instance.
 * @return 0; -1: that was logged
 */
int claim_instance(spawner_t *s);

#endif
