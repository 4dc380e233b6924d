/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file first_byte.h
 * @brief The wait for the first byte of an answer. It is over as well when the
 *        process is killed: its client is told at once, although the process
 *        may take AppHungStopTimeout to end.
 *
 * Over fcgi and scgi mod_proxy waits by itself, and nobody can call it back.
 * But the moment of the kill is known before: AppKillAfter. So mod_proxy waits
 * until then, and not longer. Should the kill be late, as the spawner is just
 * being started again, the client gets 504 all the same; the process keeps the
 * request, and is killed for it later. A kill that nobody could foresee, for
 * another request or by hand, is heard of when the process ends.
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: not concerned.
 */
#ifndef MOD_APPPOOL_BACKEND_FIRST_BYTE_H
#define MOD_APPPOOL_BACKEND_FIRST_BYTE_H

#include "mod_apppool/request/session.h"

/**
 * @param next what reads from the connection to the app
 * @return APR_SUCCESS: something is there, if only an end; APR_TIMEUP: nothing
 *         in AppTimeout; APR_ECONNABORTED: the process is being killed; or the
 *         error that the connection has met
 */
apr_status_t apppool_first_byte_wait(const apppool_session_t *s,
                                     ap_filter_t *next);

/** Before mod_proxy sends the request. */
void apppool_first_byte_limit(const apppool_session_t *s);

/** The answer has begun: from here on it may pause for AppTimeout again. */
void apppool_first_byte_came(const apppool_session_t *s);

#endif
