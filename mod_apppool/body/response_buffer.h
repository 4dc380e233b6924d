/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file response_buffer.h
 * @brief An answer on its way to a slow reader: what he does not take at once
 *        is stored, so that the app can go on, and its process be given back
 *        when it has said all.
 *
 * What he does take at once is written at once: nothing is held back. The
 * answer is read as fast as the app gives it; each part is passed on if there
 * is room on the way to the client (output_room.h), else it is stored. When the
 * app pauses, app and client are waited for together. When it is done, the rest
 * is some bytes in memory and one bucket of a file. In event that is written
 * without a thread if the connection is not encrypted: mod_ssl has the thread
 * until the last 64 KB. For HTTP/2 mod_http2 takes the file as it is, and needs
 * no thread of the request's either.
 *
 * Two answers are not stored: an event stream, which has no end to wait for,
 * and one with `X-Accel-Buffering: no`, by which apps ask for that.
 *
 * When there is no room to store, when less of the disk is free than
 * AppPoolSpoolFree, or when as much as AppSpoolLimit is stored, the client is
 * waited for, as if AppBufferResponse were Off.
 *
 * Lock:  none.
 * Crash: not concerned; see spool.h.
 * Trust: a file holds what this client is about to get, and no other does.
 */
#ifndef MOD_APPPOOL_BODY_RESPONSE_BUFFER_H
#define MOD_APPPOOL_BODY_RESPONSE_BUFFER_H

#include <httpd.h>
#include <util_filter.h>

typedef struct apppool_response_buffer_t apppool_response_buffer_t;

/**
 * For an answer whose header is known.
 * @param label of the app, for the log
 * @param app descriptor of the connection to the process
 * @param timeout us that the app may be silent
 * @return NULL: this one is passed on as it comes
 */
apppool_response_buffer_t *
apppool_response_buffer_make(request_rec *r, const char *label, int app,
                             apr_interval_time_t timeout);

/**
 * Take a part of the answer.
 * @param next the filter that leads to the client
 * @param bb the part; on return, what the caller is to pass to next: all that
 *        is left if it was the last part, else mostly nothing
 * @return APR_SUCCESS; or what next said, or why the app cannot be read
 */
apr_status_t apppool_response_buffer_pass(apppool_response_buffer_t *buffer,
                                          ap_filter_t *next,
                                          apr_bucket_brigade *bb);

#endif
