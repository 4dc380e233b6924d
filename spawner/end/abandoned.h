/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file abandoned.h
 * @brief Finds out when an app is done with an abandoned request: one for
 *        which no client waits any more.
 *
 * httpd has closed its end of the connection. An app that works on the request
 * does not look at the connection, or continues nevertheless. But each server
 * closes its own end when it is done. The kernel knows which connections are
 * still open (sock_diag.h). While there are as many of them as abandoned
 * requests, no request has ended.
 *
 * An app may keep a connection open for another reason, such as in a process
 * that it forked. So each connection that goes counts as the end of one
 * request, however many are left. But when a request ends as it should, its
 * connection is also open for a moment after httpd has closed it. So a
 * connection counts only if it was there at each of the last few checks, which
 * take more than a tenth of a second.
 *
 * This is wrong if an app keeps a connection, and ends another request before
 * these checks. Then the connection that it keeps is taken for that request,
 * until one of the two is closed, or until AppKillAfter is over. The same holds
 * if a process that the app has forked has the shared connection of that very
 * request. It is also wrong if other requests just end at each of these checks.
 * Then the first check at which none does so counts as the end of one.
 *
 * If this kernel cannot list connections, or the app has bound its socket under
 * another name, the requests count as ended at once. Then the process gets
 * requests again. If the kernel only fails this time, no request counts as
 * ended.
 *
 * Trust: a child of httpd may abandon any request. That costs its app a
 *        process. There are at most a hundred checks a second, for any number
 *        of processes. The loop's share of a processor is another limit
 *        (loop.c).
 */
#ifndef APPPOOL_SPAWNER_END_ABANDONED_H
#define APPPOOL_SPAWNER_END_ABANDONED_H

#include "spawner/process/state.h"

/** The segment says about this process that `n` of its requests are abandoned,
 * and that `waiting` other requests wait for a process of its app. */
void abandoned_note(process_t *p, uint32_t n, uint32_t waiting);

/** Check the processes that are due. */
void abandoned_check(spawner_t *s);

#endif
