/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file leftover_dirs.h
 * @brief Removes the directories of processes that have ended (a/ID), with all
 *        files. A helper job does it, as such a tree may be huge, or contain
 *        mounts of the user's own.
 *
 * If something cannot be removed within ten seconds, the error log says so
 * once, and each minute there is a new try.
 *
 * Crash: the next spawner finds all that belong to no process.
 * Trust: the trees are hostile (remove_tree.h).
 */
#ifndef APPPOOL_SPAWNER_PROCESS_LEFTOVER_DIRS_H
#define APPPOOL_SPAWNER_PROCESS_LEFTOVER_DIRS_H

#include "spawner/process/state.h"

/** A directory of a process that has ended may be left. */
void leftover_dirs_note(spawner_t *s);

/** Begin a helper job if one is due. */
void leftover_dirs_tick(spawner_t *s);

#endif
