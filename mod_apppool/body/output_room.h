/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file output_room.h
 * @brief How much of a response can be passed on to the client without waiting?
 *
 * A client of HTTP/1 has a socket, and the kernel says whether the socket has
 * room. A stream of HTTP/2 has no socket. mod_http2 has a buffer for it, of
 * H2StreamMaxMemSize. A write into a full buffer waits, and mod_http2 does not
 * say how full the buffer is. So a mark follows each part that is passed to
 * mod_http2. The mark is a bucket of a type of our own. It is destroyed when
 * mod_http2 has taken the bytes before it. So we know how many bytes are on
 * their way. There are never more of them than the smallest usual buffer can
 * hold.
 *
 * A filter between us and the client may wait by itself, as mod_ratelimit does,
 * or compute for a long time. A filter that has begun to wait cannot be
 * interrupted. So not much is passed at a time, and the time of each pass is
 * measured. After a slow pass there is no room for ten times that time, but not
 * for more than two seconds. So all slow passes but the last one take at most a
 * tenth of the time that the app needs, if none takes more than 200 ms, as long
 * as mod_ratelimit sleeps. A longer one has perhaps waited for a client that
 * reads nothing, and such a client gets the next bytes soon when it reads
 * again.
 *
 * Lock:  none; it belongs to one request. Its marks are destroyed by the thread
 *        of that request, or when mod_http2 is done with the thread.
 */
#ifndef MOD_APPPOOL_BODY_OUTPUT_ROOM_H
#define MOD_APPPOOL_BODY_OUTPUT_ROOM_H

#include <httpd.h>
#include <util_filter.h>

typedef struct apppool_output_room_t apppool_output_room_t;

/** Which side is ready. */
#define APPPOOL_CLIENT_READY 1
#define APPPOOL_APP_READY    2

/**
 * Make one for a request.
 * @return NULL: the connection is of an unknown kind
 */
apppool_output_room_t *apppool_output_room_make(request_rec *r);

/** Is it a stream of HTTP/2, and not a connection? */
int apppool_output_room_is_stream(const apppool_output_room_t *room);

/** Was a slow pass a short time ago? */
int apppool_output_room_rests(const apppool_output_room_t *room);

/** How many bytes can be passed on now? At most 16 KB. 0: it would have to
 * wait, or a slow pass was a short time ago. */
apr_off_t apppool_output_room_bytes(apppool_output_room_t *room);

/** Has the client's socket taken everything that was passed on? What it can
 * take at once is written. */
int apppool_output_room_is_clear(const apppool_output_room_t *room);

/**
 * Pass something on, even if there is no room. A flush is passed by itself.
 * @param next the filter that leads to the client
 * @param bb   emptied
 * @return what next returned
 */
apr_status_t apppool_output_room_pass(apppool_output_room_t *room,
                                      ap_filter_t *next,
                                      apr_bucket_brigade *bb);

/**
 * Wait until there is room, or until the app sends something. For a stream, the
 * end of a rest counts as room: something may have to be flushed then.
 * @param app descriptor of the connection to the process
 * @param ms  to wait at most; -1: no limit
 * @return APPPOOL_CLIENT_READY, APPPOOL_APP_READY, or both; 0: none of them in
 *         that time
 */
int apppool_output_room_wait(apppool_output_room_t *room, int app, int ms);

#endif
