/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file template.h
 * @brief What the spawner reads and writes in the segment for a template: of
 *        which code it has to be, and what the status says of it.
 *
 * Lock:  none. The numbers are read and written one by one.
 * Crash: the next spawner writes the figures again.
 * Trust: a child of httpd may write any number as the code. Then a template is
 *        loaded again. By the figures, a restart.txt that is seen for the first
 *        time is a restart (restart.h), or none.
 */
#ifndef APPPOOL_SHM_VERBS_TEMPLATE_H
#define APPPOOL_SHM_VERBS_TEMPLATE_H

#include "shm/format/pool.h"

/** What a template of the app has to be. */
typedef struct {
    uint64_t code; /**< goes up with each restart of the app, rolling or not,
                        before anything else of the restart is seen */
    int usable;    /**< 0: the app has no template now. It is drained, or gone
                        from the configuration, or always_restart.txt is there:
                        then each process loads its code itself */
} apl_template_need_t;

/** @return APR_SUCCESS; APL_ESTALE: the group was not found */
apr_status_t apl_template_need(apl_pool_t *pool, const char *name,
                               apl_template_need_t *need);

/** Write the figures. If the group is not found, nothing is done. */
void apl_template_tell(apl_pool_t *pool, const char *name,
                       const apl_template_t *figures);

#endif
