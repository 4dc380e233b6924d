/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file template.h
 * @brief What the spawner reads and writes in the segment for a template: the
 *        code that it has to load, and its figures for the status.
 *
 * Lock:  none. The numbers are read and written one by one.
 * Crash: the next spawner writes the figures again.
 * Trust: a child of httpd may write any number as the code. Then a template is
 *        loaded again. The figures decide whether the first look at restart.txt
 *        restarts the app (restart.h), and whether a group has
 *        several starts at a time (apl_group_may_start()). The spawner starts
 *        a bounded number of processes at a time, whatever they say.
 */
#ifndef APPPOOL_SHM_VERBS_TEMPLATE_H
#define APPPOOL_SHM_VERBS_TEMPLATE_H

#include "shm/format/pool.h"

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

#endif
