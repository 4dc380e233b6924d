/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file await.h
 * @brief The wait for the first byte of an answer. It is over as well when the
 *        process is killed: its client is told at once, although the process
 *        may take AppDyingLimit to end.
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: not concerned.
 */
#ifndef APPPOOL_AWAIT_H
#define APPPOOL_AWAIT_H

#include "mod_apppool/visit.h"

/**
 * @param next what reads from the connection to the app
 * @return APR_SUCCESS: something is there, if only an end; APR_TIMEUP: nothing
 *         in AppTimeout; APR_ECONNABORTED: the process is being killed; or the
 *         error that the connection has met
 */
apr_status_t apppool_await(const apppool_visit_t *v, ap_filter_t *next);

#endif
