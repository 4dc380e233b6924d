/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file stray_cgroups.h
 * @brief Cgroups of nobody: what runs in them is killed, and they are removed
 *        as soon as they are empty.
 *
 * A cgroup is somebody's while there is a process of an app with its id, or
 * a helper job that runs.
 *
 * Crash: a new spawner looks for them all.
 */
#ifndef APPPOOL_SPAWNER_STATE_STRAY_CGROUPS_H
#define APPPOOL_SPAWNER_STATE_STRAY_CGROUPS_H

#include "spawner/state/state.h"

/** There may be some. @param say 1: log in which of them something runs */
void stray_cgroups_check(spawner_t *s, int say);

/** End them; again and again, for those that are not empty yet. */
void stray_cgroups_tick(spawner_t *s);

#endif
