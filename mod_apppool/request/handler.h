/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file handler.h
 * @brief A request of the app: which process answers it?
 *
 * A process that cannot be connected to is detached and the next one tried,
 * ten times at the most and until AppQueueTimeout. A request of which a byte
 * was sent is not repeated, unless it has no body and the app is known not to
 * have read it: the connection was reset with the request still in it. That
 * is what happens to a connection in the backlog of a process that is being
 * killed.
 *
 * Lock:  none but in what is called.
 * Crash: see session.h.
 * Trust: the client's request was checked by httpd, the app's answer is
 *        mod_proxy's to check.
 */
#ifndef MOD_APPPOOL_REQUEST_HANDLER_H
#define MOD_APPPOOL_REQUEST_HANDLER_H

#include <httpd.h>

/** The hook. */
int apppool_handler(request_rec *r);

#endif
