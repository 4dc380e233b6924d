/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file app_output.h
 * @brief Bytes on their way to an app: one write for all of them, if the
 *        app takes them.
 *
 * Lock:  none; it belongs to one request.
 * Crash: not concerned.
 * Trust: an app may close its end at any time. That is no error of the request:
 *        the app may have responded before.
 */
#ifndef MOD_APPPOOL_BACKEND_APP_OUTPUT_H
#define MOD_APPPOOL_BACKEND_APP_OUTPUT_H

#include <stddef.h>
#include <sys/uio.h>

/** Zeroed at first. */
typedef struct {
    struct iovec parts[2]; /**< what is to be sent, in this order */
    int sent;              /**< at least one byte was */
    int hung_up;           /**< the app reads no more: nothing is sent */
} apppool_app_output_t;

/** Add bytes to the output. The caller keeps them unchanged until they were
 * sent.
 * @param which 0 or 1: a part that is empty */
void apppool_app_output_put(apppool_app_output_t *out, int which, void *bytes,
                            size_t n);

int apppool_app_output_is_empty(const apppool_app_output_t *out);

/** Send what can be sent without waiting.
 * @param fd the app's
 * @return 0: nothing was sent */
int apppool_app_output_send(apppool_app_output_t *out, int fd);

#endif
