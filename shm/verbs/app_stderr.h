/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file app_stderr.h
 * @brief The way of lines that an app sends as STDERR of FastCGI: from the
 *        child of httpd that reads them to the spawner, which writes the logs
 *        of apps.
 *
 * It is a ring in the segment. Nothing waits: if the ring is full, the child
 * keeps its lines, and writes them to the error log.
 *
 * Lock:  both take and give back the pool lock. To copy 2 KB takes less time
 *        than a checkout.
 * Crash: lines count from the store of header.n_stderr on. A spawner that dies
 *        between the store of n_stderr_taken and the log loses the lines that
 *        it took. The next spawner takes all others.
 * Trust: a child may write any lines for any process at any time. It can forge
 *        output of apps by that, and can do nothing else. Sizes are checked.
 */
#ifndef APPPOOL_SHM_VERBS_APP_STDERR_H
#define APPPOOL_SHM_VERBS_APP_STDERR_H

#include "shm/format/pool.h"

/**
 * Give lines to the spawner.
 * @param id     of the process that has sent them
 * @param logged 1: they are in the error log
 * @param text   of at most APL_STDERR_TEXT bytes
 * @return APL_EFULL: the ring is full; APL_ELOCK: the lock was not free soon
 */
apr_status_t apl_app_stderr_put(apl_pool_t *pool, uint64_t id, int logged,
                                const char *text, apr_size_t size, int64_t now);

/**
 * Take the oldest lines. Only the spawner calls it.
 * @param to filled in; private memory
 * @return APR_EOF: there are none; APL_ELOCK: try again later
 */
apr_status_t apl_app_stderr_take(apl_pool_t *pool, apl_stderr_t *to,
                                 int64_t now);

#endif
