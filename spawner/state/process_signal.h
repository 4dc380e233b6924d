/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file process_signal.h
 * @brief Signals for a process of an app and for all that it has started,
 *        which is known by cgroup, or by session and mark.
 *
 * Crash:  a signal that was to be sent later is sent again by the next
 *         spawner, which finds the deadline in the registry.
 * Trust:  a group is signalled as a whole only while its leader, alive or an
 *         unreaped zombie, keeps the number from being reused.
 */
#ifndef APPPOOL_SPAWNER_STATE_PROCESS_SIGNAL_H
#define APPPOOL_SPAWNER_STATE_PROCESS_SIGNAL_H

#include "spawner/state/state.h"

/**
 * Send a signal to its process group, or to the leader and its session if it
 * was adopted; KILL, and any signal when the leader is dead, to whatever it has
 * started. The group, the leader, and a cgroup that is killed get it at once;
 * what must be looked for gets it a little later (session_scan.h, mark_scan.h).
 */
void process_signal(spawner_t *s, process_t *p, int sign);

/** Does anything run that it has started, or is that not known yet? For one
 * whose leader is dead. What is not known is asked for. */
int process_signal_remains(spawner_t *s, process_t *p);

#endif
