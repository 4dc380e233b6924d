/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file session_peek.h
 * @brief A consistent copy of the slot of an open session, made without the
 *        lock, for callers that only read.
 *
 *     for (i = 1; i <= apl_session_peek_top(pool); i++)
 *         if (apl_session_peek(pool, i, &r) == APR_SUCCESS && ...
 *
 * Lock:  not needed, and no other process is delayed.
 * Crash: nothing is written.
 * Trust: other processes wrote what is copied. Texts are terminated and may
 *        contain any byte. `process` is a number to look up.
 */
#ifndef APPPOOL_SHM_SLOTS_SESSION_PEEK_H
#define APPPOOL_SHM_SLOTS_SESSION_PEEK_H

#include "shm/format/pool.h"

typedef struct {
    uint64_t process;    /**< id of the process that it has */
    uint64_t ticket;     /**< another request has another one */
    int64_t since;       /**< us: when it got the process */
    uint32_t long_lived; /**< as in apl_session_t */
    char method[sizeof((apl_session_t *)0)->method];
    char client[sizeof((apl_session_t *)0)->client]; /**< address */
    char uri[sizeof((apl_session_t *)0)->uri];       /**< path, cut off */
} apl_session_peek_t;

/** No slot with a higher index was ever used. */
uint32_t apl_session_peek_top(const apl_pool_t *pool);

/**
 * The session in slot `index`.
 * @return APL_ESTALE: there is no open session, or it ended just now
 */
apr_status_t apl_session_peek(const apl_pool_t *pool, uint32_t index,
                              apl_session_peek_t *request);

#endif
