/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file stray_cgroups.h
 * @brief Kills the processes in stray cgroups, and removes the cgroups when
 *        they are empty.
 *
 * A cgroup is stray when there is no process of an app with its id, and no
 * helper job that runs in it.
 *
 * Crash: the next spawner finds them all.
 */
#ifndef APPPOOL_SPAWNER_PROCESS_STRAY_CGROUPS_H
#define APPPOOL_SPAWNER_PROCESS_STRAY_CGROUPS_H

#include "spawner/process/state.h"

/** There may be stray cgroups. @param say 1: log in which of them something
 * runs */
void stray_cgroups_check(spawner_t *s, int say);

/** End them. A cgroup that is not empty yet is tried again. */
void stray_cgroups_tick(spawner_t *s);

#endif
