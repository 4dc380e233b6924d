/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file packet.h
 * @brief What a request over uwsgi begins with, and a socket for it, made
 *        before the request waits for a process. So a process that becomes free
 *        gets the request sooner.
 *
 * The packet does not depend on the process. It can be sent to another one
 * after a failure, over a new socket.
 *
 * Lock:  none.
 * Crash: all is private memory of the httpd child.
 * Trust: the values are the client's; see uwsgi_request.h.
 */
#ifndef MOD_APPPOOL_REQUEST_PACKET_H
#define MOD_APPPOOL_REQUEST_PACKET_H

#include "mod_apppool/request/session.h"

/**
 * Make s->packet. The request's headers are those that the app is to get.
 * @return OK; or HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE, and the log says so
 */
int apppool_packet_make(apppool_session_t *s);

#endif
