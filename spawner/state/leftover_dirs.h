/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file leftover_dirs.h
 * @brief Directories of processes that have ended (a/ID), with what they left
 *        there: removed by a helper job, as such a tree may be huge, or have the
 *        user's own mounts in it.
 *
 * What cannot be removed within ten seconds is named in the error log, once,
 * and tried again each minute.
 *
 * Crash: the next spawner looks for all that belong to no process.
 * Trust: the trees are hostile (remove_tree.h).
 */
#ifndef APPPOOL_SPAWNER_STATE_LEFTOVER_DIRS_H
#define APPPOOL_SPAWNER_STATE_LEFTOVER_DIRS_H

#include "spawner/state/state.h"

/** A directory of a process that has ended may be left. */
void leftover_dirs_note(spawner_t *s);

/** Begin what is due. */
void leftover_dirs_tick(spawner_t *s);

#endif
