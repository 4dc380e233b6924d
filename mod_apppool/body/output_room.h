/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file output_room.h
 * @brief The way of an answer to its client: how much of it can be passed on
 *        without waiting?
 *
 * A client of HTTP/1 has a socket, and the kernel tells whether it has room. A
 * stream of HTTP/2 has none: mod_http2 has a buffer for it, of
 * H2StreamMaxMemSize, makes whoever writes into a full one wait, and does not
 * tell how full it is. So what is passed to it is followed by a mark: a bucket
 * that nobody knows, and that is destroyed when mod_http2 has taken what is
 * before it. No more is under way than the smallest usual buffer has room for.
 *
 * A filter on the way may wait by itself, as mod_ratelimit does, or work hard.
 * So the time that each pass takes is measured; after one that was slow, there
 * is a rest of ten times that time.
 *
 * Lock:  none; an outlet belongs to one request. Its marks are destroyed by
 *        that request's thread, or when mod_http2 is done with the thread.
 * Crash: not concerned.
 * Trust: not concerned.
 */
#ifndef MOD_APPPOOL_BODY_OUTPUT_ROOM_H
#define MOD_APPPOOL_BODY_OUTPUT_ROOM_H

#include <httpd.h>
#include <util_filter.h>

typedef struct apppool_output_room_t apppool_output_room_t;

/** Who is ready. */
#define APPPOOL_CLIENT_READY 1
#define APPPOOL_APP_READY    2

/**
 * That of a request.
 * @return NULL: the connection is of a kind that we do not know
 */
apppool_output_room_t *apppool_output_room_make(request_rec *r);

/** It is a stream of a connection, and not the connection. */
int apppool_output_room_is_stream(const apppool_output_room_t *room);

/** The last pass was slow, and not long ago: an app that has something to say
 * should not wait for another one. */
int apppool_output_room_is_resting(const apppool_output_room_t *room);

/** How many bytes can be passed on now; 0: it would have to wait. */
apr_off_t apppool_output_room_bytes(apppool_output_room_t *room);

/** Is there nothing that was passed on, and waits for the client's socket? */
int apppool_output_room_is_clear(const apppool_output_room_t *room);

/**
 * Pass something on, whether there is room or not.
 * @param next the filter that leads to the client
 * @param bb   emptied
 * @return as next said
 */
apr_status_t apppool_output_room_pass(apppool_output_room_t *room,
                                      ap_filter_t *next,
                                      apr_bucket_brigade *bb);

/**
 * Wait until there is room, or until the app says something.
 * @param app descriptor of the connection to the process
 * @param ms  to wait at most; -1: no limit
 * @return APPPOOL_CLIENT_READY, APPPOOL_APP_READY, both; 0: neither in that time
 */
int apppool_output_room_wait(apppool_output_room_t *room, int app, int ms);

#endif
