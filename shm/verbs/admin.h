/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file admin.h
 * @brief The verbs by which an administrator works on an app, and by which a
 *        user works on the apps that run as that user: drain it, start it,
 *        start it anew. Called by the spawner; restart also by children of
 *        httpd, for the button of the status page.
 *
 * Lock:  each verb takes and gives back the pool lock itself, by
 *        apl_enter_patiently(): APL_ELOCK means try again later.
 * Crash: what is left is done by the next tick.
 * Trust: what is returned is a status, and nothing out of the segment.
 */
#ifndef APPPOOL_SHM_VERBS_ADMIN_H
#define APPPOOL_SHM_VERBS_ADMIN_H

#include "shm/slots/group.h"

#define APL_PAUSE_MIN 1000000 /* us */

/**
 * An app is to be worked on: its processes leave, nobody is given one and
 * nothing is started until apl_admin_restart(). The group is made if it is
 * not there.
 * @return APR_SUCCESS; or APL_EFULL, APL_EDAMAGED: nothing was done
 */
apr_status_t apl_admin_drain(apl_pool_t *pool, const apl_app_t *app,
                             int64_t now);

/**
 * May a user who is no administrator restart or start this app now? Such a user
 * ends no drain, and no pause within APL_PAUSE_MIN of a failed start.
 * @return APR_SUCCESS, also if there is no such group; APL_EDRAINED;
 *         APL_EBACKOFF
 */
apr_status_t apl_admin_permits(apl_pool_t *pool, const char *name, int64_t now);

/**
 * An app is to run before somebody asks for it: its minimum, and at least one
 * process. The group is made if it is not there. A pause after failed starts
 * ends.
 * @return APR_SUCCESS: a process runs or is being started; or APL_EDRAINED,
 *         APL_EUNKILLABLE, APL_EFULL, APL_EDAMAGED; APL_EWAIT: the pool has no
 *         place for it now
 */
apr_status_t apl_admin_start(apl_pool_t *pool, const apl_app_t *app,
                             int64_t now);

/**
 * An app's code is to be loaded anew; or one that was drained may run again.
 * @param rolling 1: one process after the other, each when another is there
 *                to replace it; 0: all at once; -1: as its options say
 * @return APR_SUCCESS; APL_EDRAINED: it was drained, and is not any more;
 *         APL_ESTALE: there is no such group
 */
apr_status_t apl_admin_restart(apl_pool_t *pool, const char *name, int rolling,
                               int64_t now);

#endif
