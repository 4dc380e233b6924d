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

/** The start failed at this step (start_failure.h), for the reason given in a
 * sentence: kill what is there, tell the segment and the log. */
void life_failed(spawner_t *s, process_t *p, int step, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** It accepts connections. */
void life_ready(spawner_t *s, process_t *p);

/** The stop signal to the group now, KILL when the stop timeout is over. */
void life_stop(spawner_t *s, process_t *p, const char *why);

/** TERM to the group now, KILL when the dying limit is over. */
void life_kill(spawner_t *s, process_t *p, const char *why);

/** The leader is dead, and a zombie when it is a child of ours. */
void life_died(spawner_t *s, process_t *p, const siginfo_t *cause);

/** An adopted one's leader is dead: loop_ready_t of its pidfd. */
void life_pidfd(void *owner, uint32_t events);

/** Reap children that are dead: apps, errands, orphans. It reaps a bounded
 * number; s->unreaped says that there may be more, for the next turn. */
void life_reap(spawner_t *s);

/** Do what is due for each process. */
void life_tick(spawner_t *s);

/** 64 random bits. */
uint64_t life_random(void);

#endif
