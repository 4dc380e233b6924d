/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file life.h
 * @brief A process's way from boot to end: what happens to it, and what is
 *        due.
 *
 * Crash:  phases and deadlines are in the registry; the next spawner goes on.
 * Trust:  not concerned; what the segment says is slot_state.h's.
 */
#ifndef APPPOOL_SPAWNER_LIFE_LIFE_H
#define APPPOOL_SPAWNER_LIFE_LIFE_H

#include "spawner/state/state.h"

/** The leader is dead, and a zombie when it is a child of ours. */
void life_died(spawner_t *s, process_t *p, const siginfo_t *cause);

/** An adopted one's leader is dead: loop_ready_t of its pidfd. */
void life_pidfd(void *owner, uint32_t events);

/** Reap children that are dead: apps, errands, orphans. It reaps a bounded
 * number; s->unreaped says that there may be more, for the next turn. */
void life_reap(spawner_t *s);

/** Do what is due for each process. */
void life_tick(spawner_t *s);

#endif
