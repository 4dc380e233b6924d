/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file process_signal.h
 * @brief Sends signals to a process of an app, and to all processes that it has
 *        started. These are found by cgroup, or by session and mark.
 *
 * Crash:  the next spawner finds the deadline in the registry, and sends the
 *         signal that was to be sent later.
 * Trust:  the whole process group is signalled only while its leader lives, or
 *         is a zombie that was not reaped. Until then, the kernel gives its
 *         number to no other process.
 */
#ifndef APPPOOL_SPAWNER_PROCESS_PROCESS_SIGNAL_H
#define APPPOOL_SPAWNER_PROCESS_PROCESS_SIGNAL_H

#include "spawner/process/state.h"

/**
 * Send a signal to its process group; if it was adopted, to the leader and its
 * session. KILL goes to all processes that it has started, and so does any
 * signal when the leader is dead. The group, the leader, and a cgroup that is
 * killed get the signal at once. Processes that a scan has to find get it a
 * little later (sid_scan.h, mark_scan.h).
 */
void process_signal(spawner_t *s, process_t *p, int sign);

/** For a process whose leader is dead: does a process still run that it has
 * started? If that is not known, a scan is asked for.
 * @return 0: nothing runs; 1: something ran when it was last looked for; -1:
 * not known yet */
int process_signal_remains(spawner_t *s, process_t *p);

/** What a scan has found may have ended by now: only a scan that begins later
 * counts. Where there is a cgroup, that always says what runs. */
void process_signal_forget_remains(process_t *p);

#endif
