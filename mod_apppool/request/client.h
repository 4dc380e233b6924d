/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file client.h
 * @brief The client of a request that waits: is it still there?
 *
 * A reset connection says that the client has left. A half-closed connection
 * does not: the client may have closed the whole connection, or only the half
 * through which it has sent its request. Both look the same until something is
 * sent. So the client is sent 100 Continue. A client of HTTP/1.1 has to expect
 * that at any time, and the kernel of a client that has left responds with a
 * reset. A client of HTTP/1.0 that has closed its half counts as present, as it
 * does while it is served.
 *
 * Trust: a client can harm only its own request.
 */
#ifndef MOD_APPPOOL_REQUEST_CLIENT_H
#define MOD_APPPOOL_REQUEST_CLIENT_H

#include <httpd.h>

typedef struct {
    request_rec *r;
    int asked; /**< it got 100 Continue to find out; 0 at first */
} apppool_client_t;

/** Has it left? What it has sent meanwhile is not read. A stream of HTTP/2 has
 * no socket of its own: mod_http2 says when it is reset.
 * @param client an apppool_client_t */
int apppool_client_has_left(void *client);

/** Send 100 Continue, if the client waits for that before it sends a body. */
void apppool_client_send_continue(request_rec *r);

#endif
