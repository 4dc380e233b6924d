/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file admin.h
 * @brief The operations by which an administrator, or the user of an app,
 *        controls an app: drain it, start it, restart it. The spawner calls
 *        them. Children of httpd call restart, too, for the button of the
 *        status page.
 *
 * Lock:  each function takes and gives back the pool lock itself, by
 *        apl_enter_patiently(): APL_ELOCK means try again later.
 * Crash: the next tick does what is left.
 * Trust: only a status is returned, nothing from the segment.
 */
#ifndef APPPOOL_SHM_VERBS_ADMIN_H
#define APPPOOL_SHM_VERBS_ADMIN_H

#include "shm/slots/group.h"

#define APL_PAUSE_MIN 1000000 /* us */

/**
 * Take an app out of service. Its processes leave, no request gets one, and
 * none is started until apl_admin_restart(). One store commits that: each
 * operation that starts a process or gives one away reads this word. The group
 * is made if there is none.
 * @return APR_SUCCESS; APL_EFULL or APL_EDAMAGED: nothing was done
 */
apr_status_t apl_admin_drain(apl_pool_t *pool, const apl_app_t *app,
                             int64_t now);

/**
 * May a user who is not an administrator restart or start this app now? Such a
 * user cannot end a drain. Such a user cannot end a pause either within
 * APL_PAUSE_MIN after a failed start.
 * @return APR_SUCCESS, also if there is no such group; APL_EDRAINED;
 *         APL_EBACKOFF
 */
apr_status_t apl_admin_permits(apl_pool_t *pool, const char *name, int64_t now);

/**
 * Start the processes of an app before its first request: its minimum, and at
 * least one. The group is made if there is none. A pause after failed starts
 * ends.
 * @return APR_SUCCESS: a process runs or is being started; APL_EDRAINED;
 *         APL_EUNKILLABLE; APL_EFULL; APL_EDAMAGED; APL_EWAIT: the pool has no
 *         place for it now
 */
apr_status_t apl_admin_start(apl_pool_t *pool, const apl_app_t *app,
                             int64_t now);

/**
 * Load the code of an app again, or end its drain.
 * @param rolling 1: one process after another, each when its replacement is
 *                there; 0: all at once; -1: as the options of the app say
 * @return APR_SUCCESS; APL_EDRAINED: it was drained, and is not drained any
 *         more; APL_ESTALE: there is no such group
 */
apr_status_t apl_admin_restart(apl_pool_t *pool, const char *name, int rolling,
                               int64_t now);

#endif
