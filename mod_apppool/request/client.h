/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file client.h
 * @brief The client of a request that waits: is it still there?
 *
 * A reset connection says that it has gone. A closed half does not: the client
 * may have closed all, or only the half that it has sent its request by. The
 * two look the same until something is sent. So it is sent 100 Continue, which
 * a client of HTTP/1.1 has to expect at any time, and which the kernel of one
 * that has gone answers with a reset. A client of HTTP/1.0 that has closed its
 * half is taken to be there, as it is while it is served.
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: a client can only harm its own request.
 */
#ifndef MOD_APPPOOL_REQUEST_CLIENT_H
#define MOD_APPPOOL_REQUEST_CLIENT_H

#include <httpd.h>

typedef struct {
    request_rec *r;
    int asked; /**< it was sent 100 Continue, to find out; 0 at first */
} apppool_client_t;

/** Has it gone? What it has sent meanwhile is not looked at. A stream of HTTP/2
 * has no socket of its own: mod_http2 says when it is reset.
 * @param client an apppool_client_t */
int apppool_client_has_left(void *client);

/** Send 100 Continue, if the client waits for that before it sends a body. */
void apppool_client_send_continue(request_rec *r);

#endif
