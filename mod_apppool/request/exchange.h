/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file exchange.h
 * @brief Send a request to the process of its session, and pass on the
 *        response.
 *
 * A request goes to the next process while not a byte of it was sent. When a
 * connection breaks after that, it is not known what the app has read, and the
 * request may be the cause of the death of its process. So it is sent once more
 * at most, over a new connection, and only if the app may get it twice
 * (apppool_app_client_may_repeat()). Any other request does not go to a process
 * that is being killed, although such a process still accepts connections.
 *
 * Trust: httpd has checked the client's request. What the app sends is checked
 *        by the client that speaks its protocol.
 */
#ifndef MOD_APPPOOL_REQUEST_EXCHANGE_H
#define MOD_APPPOOL_REQUEST_EXCHANGE_H

#include "mod_apppool/request/app_request.h"

/**
 * Send the request to the process.
 * @param status what the handler is to return, if the result is 1; else OK.
 *        SUSPENDED: the connection has left its worker (pump/suspend.h), and
 *        apppool_exchange_resume() will end the request
 * @return 1: the request is done; 0: the process refused the connection, or is
 *         ending: it was detached, and the request can be sent to another one
 */
int apppool_exchange(apppool_app_request_t *req, int *status);

/** Another worker has the connection: end the request.
 * @return what the handler is to return */
int apppool_exchange_resume(apppool_app_request_t *req, apppool_link_why_t why);

/** For mod_proxy's hook fixups, which it runs when it has made the header of
 * any request. */
int apppool_exchange_fixups(request_rec *r);

#endif
