/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file abandoned.h
 * @brief Requests that an app was silent about for too long: their clients
 *        have been told so. When is the app done with them?
 *
 * Its end of the connection says so. httpd has closed the other one; an app
 * that works on the request has not looked, or would go on all the same, and
 * whatever server it is, it closes its own in the end. Which ones are left the
 * kernel knows (sock_diag.h): while there are as many as abandoned requests,
 * none has ended. An app may keep some for other reasons, say in a process that
 * it forked: so one that goes counts as an end, however many are left. Only if
 * an app keeps one, and ends a request before the first look, is that taken for
 * the other: until one of the two is closed, or AppKillAfter is over.
 *
 * Where the kernel does not tell, or the app has bound its socket by another
 * name, they end at once, and the process is given requests again.
 *
 * Crash: the next spawner looks again.
 * Trust: a child of httpd may abandon any request. That costs its app a
 *        process. The spawner makes at most a hundred looks a second, for any
 *        number of processes. The loop's share of a processor is another limit
 *        (loop.c).
 */
#ifndef APPPOOL_SPAWNER_LIFE_ABANDONED_H
#define APPPOOL_SPAWNER_LIFE_ABANDONED_H

#include "spawner/state/state.h"

/** What the segment says of a process: how many of its requests are abandoned,
 * and how many others wait for a process of its app. */
void abandoned_note(process_t *p, uint32_t n, uint32_t waiting);

/** Look at those that are due. */
void abandoned_check(spawner_t *s);

#endif
