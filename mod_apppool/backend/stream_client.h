/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file stream_client.h
 * @brief The client of an event stream, or of any response over HTTP/2: has it
 *        left?
 *
 * An application may send nothing for minutes, so a write does not show that
 * the client has left. The request of an event stream is complete: nobody asks
 * before the body was read. So an end that the client has sent since then
 * counts: the FIN of TCP, the close_notify of TLS. For any other response, a
 * FIN may say only that the client sends no more. But the reset of a stream of
 * HTTP/2 always says that it has left.
 *
 *     apppool_stream_client_begin(&client, r, label, has_events);
 *                                                      after the header
 *     ...
 *     while (nothing comes from the app for a moment)
 *         if (apppool_stream_client_has_left(&client))
 *
 * Trust: a client can end only its own response.
 */
#ifndef MOD_APPPOOL_BACKEND_STREAM_CLIENT_H
#define MOD_APPPOOL_BACKEND_STREAM_CLIENT_H

#include <httpd.h>

/** Zeroed at first. */
typedef struct {
    request_rec *r; /**< NULL: the response is none of these, or not yet */
    const char *label;
    int has_events;         /**< it is an event stream */
    int may_leave;          /**< it may leave its worker (pump/suspend.h); the
                               caller sets it */
    int is_noted;           /**< the log says that it has left */
    int fd;                 /**< -1: a stream of HTTP/2 */
    int has_sent;           /**< more than its request */
    apr_bucket_brigade *bb; /**< empty between two calls; NULL: nothing is read
                               of a stream of HTTP/2 */
} apppool_stream_client_t;

/**
 * The response has begun.
 * @param label of the app, for the log
 * @param has_events it is an event stream
 */
void apppool_stream_client_begin(apppool_stream_client_t *client,
                                 request_rec *r, const char *label,
                                 int has_events);

/** Is it known when the client leaves? */
int apppool_stream_client_is_there(const apppool_stream_client_t *client);

/** Has the client left? It gets nothing more then. Never waits.
 * @return 0 also if it is not known */
int apppool_stream_client_has_left(apppool_stream_client_t *client);

/** Has the client left? Nothing is logged, and nothing follows. */
int apppool_stream_client_look(apppool_stream_client_t *client);

#endif
