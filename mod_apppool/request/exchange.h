/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file exchange.h
 * @brief Send a request to the process of its session, and pass on the
 *        response.
 *
 * A request of which a byte was sent is not repeated, with one exception: it
 * has no body, and the app is known not to have read it, because the connection
 * was reset with the request still in it. This happens to a connection in the
 * backlog of a process that is being killed.
 *
 * Lock:  none but in what is called.
 * Crash: see session.h.
 * Trust: the client's request was checked by httpd; mod_proxy checks the app's
 *        response.
 */
#ifndef MOD_APPPOOL_REQUEST_EXCHANGE_H
#define MOD_APPPOOL_REQUEST_EXCHANGE_H

#include "mod_apppool/request/session.h"

/**
 * Ask the process.
 * @param url    for mod_proxy, without "proxy:"
 * @param status what the handler is to return, if the result is 1; else OK
 * @return 1: the request is done; 0: the process refused the connection, or is
 *         ending: it was detached, and another one can be asked
 */
int apppool_exchange(apppool_session_t *s, const char *url, int *status);

#endif
