/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file request_head.h
 * @brief What is sent to an app, made before the request waits for a process.
 *        So a process that becomes free gets the request sooner.
 *
 *     over HTTP          the request line and the header; or, for an upgrade, a
 *                        URL for mod_proxy
 *     over scgi, uwsgi   the packet of variables, and a socket
 *     over fcgi          nothing: the variables name the process
 *
 * It does not depend on the process. It can be sent to another one after a
 * failure, over a new socket.
 *
 * Trust: the values are the client's; see http_request.h and bare_packet.h.
 */
#ifndef MOD_APPPOOL_REQUEST_REQUEST_HEAD_H
#define MOD_APPPOOL_REQUEST_REQUEST_HEAD_H

#include "mod_apppool/request/app_request.h"

/** Does mod_proxy send the request over HTTP? It does if the request asks for
 * an upgrade, has no body, and its connection has to hold its worker. */
int apppool_request_head_needs_proxy(const apppool_app_request_t *req);

/**
 * Make it a request of this protocol.
 * @return OK; or the HTTP_* that the client is to get
 */
int apppool_request_head_make(apppool_app_request_t *req, uint32_t protocol);

#endif
