/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file group_start.h
 * @brief What the spawner reads and writes in a group about its starts: the
 *        template, and a start that lasts long.
 *
 * Lock:  apl_slow_start_write() and apl_slow_start_read() take and give back
 *        the pool lock themselves. The others take none: numbers are read and
 *        written one by one.
 * Crash: the next spawner writes the figures of the template again. The text of
 *        a slow start is for people, and may be a mixture of two texts.
 * Trust: a child of httpd may write any number as the code. Then a template is
 *        loaded again. The figures decide whether the first look at restart.txt
 *        restarts the app (restart.h), and whether a group has several starts
 *        at a time (apl_group_may_start()). The spawner starts a bounded number
 *        of processes at a time, whatever they say. A child may also write any
 *        text.
 */
#ifndef APPPOOL_SHM_VERBS_GROUP_START_H
#define APPPOOL_SHM_VERBS_GROUP_START_H

#include "shm/slots/group.h"

/* ---- its template ---- */

/** What a template of the app has to load. */
typedef struct {
    uint64_t code; /**< goes up with each restart of the app, rolling or not,
                        before anything else of the restart is seen */
    int usable;    /**< 0: the app has no template now. It is drained, or gone
                    * from the configuration. Or always_restart.txt is there:
                    * then each process loads its code itself */
} apl_template_need_t;

/** @return APR_SUCCESS; APL_ESTALE: the group was not found */
apr_status_t apl_template_need(apl_pool_t *pool, const char *name,
                               apl_template_need_t *need);

/** Write the figures. If the group is not found, nothing is done. */
void apl_template_write(apl_pool_t *pool, const char *name,
                        const apl_template_t *figures);

/* ---- a start that lasts long ----
 *
 * What is known of it before it is ready or has failed: for the log, for the
 * status, and for requests that have left the queue meanwhile. Nothing clears
 * it. It names the process that is being started, so it counts only while this
 * process starts. */

/** @return APR_SUCCESS; APL_ESTALE: there is no such group; APL_ELOCK: try
 * again later */
apr_status_t apl_slow_start_write(apl_pool_t *pool, const char *name,
                                  const apl_slow_start_t *slow, int64_t now);

/**
 * Does the group wait for its first process, and is that being started? The
 * request that asks may have waited for less time than it takes until a start
 * lasts long.
 * @param slow filled in; its text ends with NUL, and is "" if nothing is known
 * @return 1; 0: no
 */
int apl_slow_start_read(apl_pool_t *pool, const apl_app_t *app,
                        apl_slow_start_t *slow, int64_t now);

/** In a pool or in a copy of it: @return the slow start of the group; NULL:
 * there is none, or it is over */
const apl_slow_start_t *apl_slow_start_of(const apl_pool_t *pool,
                                          const apl_group_t *group);

#endif
