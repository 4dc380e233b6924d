/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file spawner.h
 * @brief apppool-spawner without main(), because the tests have their own.
 */
#ifndef APPPOOL_SPAWNER_SPAWNER_H
#define APPPOOL_SPAWNER_SPAWNER_H

#include "spawner/process/state.h"

/* spawner.c */

/** The whole program. @return its exit status */
int spawner_main(int argc, char **argv);

/* adopt.c: adopts the processes of the last spawner when a new spawner starts.
 *
 * A template of the last spawner is ended: a process that it forked now would
 * not be a child of this spawner.
 *
 * Crash:  may be repeated at any time.
 * Trust:  a record is used if a process of that pid, start time and user runs.
 *         A process that has our mark but no record is killed a moment later
 *         (mark_scan.h). */

/** Adopt each process of the registry. End the processes that are not in it. */
void adopt_all(spawner_t *s);

/** Adopt the processes for which there was no descriptor before. */
void adopt_tick(spawner_t *s);

/* life.c: the changes of a process that happen by themselves: a limit of time
 * is over, the leader dies, the rest of its process group ends. And those that
 * the segment asks for.
 *
 * Crash:  phases and deadlines are in the registry. The next spawner continues.
 *         AppRetireTimeout begins again.
 * Trust:  the spawner uses two facts of the segment: whether a process leaves,
 *         and whether it has sessions. It uses them only for processes that it
 *         knows. A child of httpd may write that a request is an upgraded
 *         connection. Then the request is broken off. */

/** The leader is dead. A child of the spawner is not reaped yet. */
void life_died(spawner_t *s, process_t *p, const siginfo_t *cause);

/** The leader of an adopted process is dead: loop_ready_t of its pidfd. */
void life_pidfd(void *owner, uint32_t events);

/** Reap dead children: leaders, helper jobs, orphans. It reaps a bounded
 * number. s->unreaped says that there may be more, for the next turn. */
void life_reap(spawner_t *s);

/** Do what the segment says about a process. One that is LEAVING there is
 * stopped when its requests are finished. WebSockets and event streams keep it
 * for AppRetireTimeout. Then it is stopped together with them. For life_tick()
 * and tests. */
void life_follow_slot(spawner_t *s, process_t *p);

/** Do what is due for each process. */
void life_tick(spawner_t *s);

#endif
