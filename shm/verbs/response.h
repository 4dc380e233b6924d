/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file response.h
 * @brief Count a response for its application.
 *
 * Lock:  none, except for an application that is not in the segment yet.
 * Crash: see slots/numbers.h.
 * Trust: the group is found by its name, as for a checkout.
 */
#ifndef APPPOOL_SHM_VERBS_RESPONSE_H
#define APPPOOL_SHM_VERBS_RESPONSE_H

#include "shm/slots/group.h"
#include "shm/slots/numbers.h"

/**
 * Count a response that has ended. An application whose requests never reached
 * the pool gets its group here, unless this child has an older configuration
 * than others, in which the application may be gone.
 * @param may_enter 0: the pool lock must not be taken
 * @return APR_SUCCESS; APL_ESTALE: there is no group; or that of
 *         apl_enter_app()
 */
apr_status_t apl_response_count(apl_pool_t *pool, const apl_app_t *app,
                                const apl_response_t *response, int64_t now,
                                int may_enter);

#endif
