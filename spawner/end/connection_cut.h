/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file connection_cut.h
 * @brief Cut the shared connection of a process when no child of httpd can.
 *
 * While a connection is parked, no process has to close it. That is a problem
 * in two cases:
 *
 *  *  The process is to stop. A serial server that waits for the next request
 *     on its connection may notice a signal only when that wait ends.
 *  * A child of httpd was killed in the middle of a request. The app has to see
 *     that its client is gone, as it would without a parked duplicate.
 *
 * Crash:  the next spawner does it again. A process that is to stop is ended by
 *         SIGKILL after AppStopTimeout at the latest.
 * Trust:  what is parked comes from children of httpd, and a close() may block.
 *         So a helper job takes it.
 */
#ifndef APPPOOL_SPAWNER_END_CONNECTION_CUT_H
#define APPPOOL_SPAWNER_END_CONNECTION_CUT_H

#include "spawner/process/state.h"

/** If a connection of this process is parked that no child uses, cut it, once.
 * This happens at most every 100 ms, and once more at once when the process is
 * stopped. If the job fails or cannot be started, the next call tries again.
 * The spawner wakes up for that. @return 1: the connection is being cut */
int connection_cut_ask(spawner_t *s, process_t *p);

/** The same, if the child of httpd that has used it last was killed within its
 * request, and the process has no other. If the request was allowed to last, no
 * session is left that says so. */
void connection_cut_ask_if_left(spawner_t *s, process_t *p);

/** Is a job about to cut it? The spawner wakes at the end of that job. */
int connection_cut_is_under_way(const process_t *p);

#endif
