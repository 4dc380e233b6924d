/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file exchange.h
 * @brief Send a request to the process of its session, and pass on the
 *        response.
 *
 * If a byte of a request was sent, the request is not repeated. There is one
 * exception: it has no body, and the app has certainly not read it, because the
 * connection was reset with the request still in it. This happens to a
 * connection in the backlog of a process that is being killed.
 *
 * Lock:  only in functions that are called.
 * Crash: see session.h.
 * Trust: httpd has checked the client's request. What the app sends is checked by
 *        the client that speaks its protocol.
 */
#ifndef MOD_APPPOOL_REQUEST_EXCHANGE_H
#define MOD_APPPOOL_REQUEST_EXCHANGE_H

#include "mod_apppool/request/session.h"

/**
 * Send the request to the process.
 * @param status what the handler is to return, if the result is 1; else OK
 * @return 1: the request is done; 0: the process refused the connection, or is
 *         ending: it was detached, and the request can be sent to another one
 */
int apppool_exchange(apppool_session_t *s, int *status);

/** For mod_proxy's hook fixups, which it runs when it has made the header of any
 * request. */
int apppool_exchange_fixups(request_rec *r);

#endif
