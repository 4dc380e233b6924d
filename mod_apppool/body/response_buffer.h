/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file response_buffer.h
 * @brief A response on its way to a slow client. Bytes that the client does not
 *        take at once are stored. So the app can continue, and its process is
 *        given back when it has sent everything.
 *
 * Bytes that the client can take are written at once. The response is read as
 * fast as the app sends it. Each part is passed on, in small pieces, while
 * there is room on the way to the client (output_room.h), and is stored
 * otherwise. When the app pauses, the thread waits for app and client together.
 * When the app is done, the rest is some bytes in memory and one bucket of a
 * file. event writes that without a thread if the connection is not encrypted;
 * mod_ssl keeps the thread until the last 64 KB. For HTTP/2, mod_http2 takes
 * the file unchanged, and does not need a thread of the request either.
 *
 * Two kinds of responses are not stored: event streams, because there is no end
 * to wait for, and responses with `X-Accel-Buffering: no`, because the app asks
 * for it.
 *
 * The app waits for the client, as if AppBufferResponse were Off, in three
 * cases: nothing can be stored; less of the disk is free than AppPoolSpoolFree;
 * or AppSpoolLimit is reached.
 *
 * Trust: a file contains only bytes for this client, and only this client gets
 *        them.
 */
#ifndef MOD_APPPOOL_BODY_RESPONSE_BUFFER_H
#define MOD_APPPOOL_BODY_RESPONSE_BUFFER_H

#include <httpd.h>
#include <util_filter.h>

typedef struct apppool_response_buffer_t apppool_response_buffer_t;

/**
 * Make one for a response whose header is known.
 * @param label of the app, for the log
 * @param app descriptor of the connection to the process
 * @param timeout us that the app may be silent
 * @return NULL: this response is passed on as it comes
 */
apppool_response_buffer_t *
apppool_response_buffer_make(request_rec *r, const char *label, int app,
                             apr_interval_time_t timeout);

/**
 * Take a part of the response.
 * @param next the filter that leads to the client
 * @param bb the part; on return, the bytes that the caller has to pass to next:
 *        everything that is left after the last part, otherwise mostly nothing
 * @return APR_SUCCESS; or what next returned, or why the app cannot be read
 */
apr_status_t apppool_response_buffer_pass(apppool_response_buffer_t *buffer,
                                          ap_filter_t *next,
                                          apr_bucket_brigade *bb);

#endif
