/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file websocket_close.h
 * @brief The last frame of a WebSocket whose process was stopped: Close with
 *        code 1001, "going away" (RFC 6455), so that the client reconnects.
 *
 * The frame can only stand between two frames of the app. So this file reads
 * the headers of the app's frames.
 *
 * Trust: an app that sends no frames, or wrong ones, spoils its own connection.
 */
#ifndef MOD_APPPOOL_BACKEND_WEBSOCKET_CLOSE_H
#define MOD_APPPOOL_BACKEND_WEBSOCKET_CLOSE_H

#include <apr_buckets.h>
#include <stdint.h>

/** What the app has sent; zeroed at first. */
typedef struct {
    unsigned char head[14]; /**< of the current frame, so far */
    unsigned n;             /**< bytes of head */
    uint64_t left;          /**< bytes of the frame's payload to come */
    int closed;             /**< the app, or we, have sent Close */
} apppool_websocket_close_t;

/** Follow what the app has sent. */
void apppool_websocket_close_follow(apppool_websocket_close_t *w,
                                    const char *bytes, apr_size_t n);

/** The app has ended: put Close at the beginning of `bb`.
 * @return 0: Close was sent before, or a frame of the app is not complete */
int apppool_websocket_close_insert(apppool_websocket_close_t *w,
                                   apr_bucket_brigade *bb);

#endif
