/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file life.h
 * @brief The changes of a process that happen by themselves: a limit of time is
 *        over, the leader dies, the rest of its process group ends.
 *
 * Crash:  phases and deadlines are in the registry. The next spawner continues.
 * Trust:  not concerned. slot_state.h does what the segment says.
 */
#ifndef APPPOOL_SPAWNER_LIFE_H
#define APPPOOL_SPAWNER_LIFE_H

#include "spawner/process/state.h"

/** The leader is dead. A child of the spawner is not reaped yet. */
void life_died(spawner_t *s, process_t *p, const siginfo_t *cause);

/** The leader of an adopted process is dead: loop_ready_t of its pidfd. */
void life_pidfd(void *owner, uint32_t events);

/** Reap dead children: leaders, helper jobs, orphans. It reaps a bounded
 * number. s->unreaped says that there may be more, for the next turn. */
void life_reap(spawner_t *s);

/** Do what is due for each process. */
void life_tick(spawner_t *s);

#endif
