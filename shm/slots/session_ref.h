/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file session_ref.h
 * @brief A caller's reference to its session, and to the process that the
 *        session has.
 *
 * Lock:  not needed: only the child of httpd that owns the slot reuses it.
 * Crash: nothing is written.
 * Trust: the caller trusts only its own apl_session_ref_t.
 */
#ifndef APPPOOL_SHM_SLOTS_SESSION_REF_H
#define APPPOOL_SHM_SLOTS_SESSION_REF_H

#include "shm/format/pool.h"

/** Private memory of the caller. apl_checkout() fills it in. */
typedef struct {
    uint32_t session, generation; /**< slot; 0: nothing is held */
    /* Valid once a verb has returned APR_SUCCESS: */
    uint64_t id;     /**< of the process: names its socket */
    int32_t pid;     /**< for the log */
    apl_wire_t wire; /**< how to reach it; protocol AUTO: it is gone */
    int64_t queued;  /**< us of waiting */
    /* Valid once a verb has returned APL_ESTART, APL_EREFUSED, APL_EBACKOFF: */
    uint64_t error_id;   /**< of the failed start; also in the log */
    int64_t retry_after; /**< us until another start will be tried */
} apl_session_ref_t;

/**
 * The session of the reference.
 * @return NULL: it does not belong to this child any more
 */
apl_session_t *apl_session_ref_find(const apl_pool_t *pool,
                                    const apl_session_ref_t *ref);

#endif
