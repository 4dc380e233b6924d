/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file leftovers.h
 * @brief What processes have left that have ended: their directories (a/ID),
 *        with all files, and stray cgroups with what runs in them. A cgroup is
 *        stray when there is no process of an app with its id, and no helper
 *        job that runs in it.
 *
 * A helper job removes a directory, as such a tree may be huge, or contain
 * mounts of the user's own. If something cannot be removed within ten seconds,
 * the error log says so once, and each minute there is a new try.
 *
 * Trust: the trees are hostile (beneath.h).
 */
#ifndef APPPOOL_SPAWNER_PROCESS_LEFTOVERS_H
#define APPPOOL_SPAWNER_PROCESS_LEFTOVERS_H

#include "spawner/process/state.h"

/** A directory of a process that has ended may be left. */
void leftovers_note_dir(spawner_t *s);

/** There may be stray cgroups. @param say 1: log in which of them something
 * runs */
void leftovers_check_cgroups(spawner_t *s, int say);

/** End what runs in stray cgroups, and remove them. One that is not empty yet
 * is tried again. Begin a helper job if one is due. */
void leftovers_tick(spawner_t *s);

#endif
