/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file request_body.h
 * @brief A request's body: read before a process is asked for, so that a slow
 *        upload holds none.
 *
 *     status = apppool_request_body_begin(&body, r, label);
 *     if (status != OK)
 *         return status;
 *     ... for each attempt:  apppool_request_body_rewind(body);
 *     apppool_request_body_end(body);
 *
 * In between r has another body: an input filter hands out what was read, and
 * the headers say how long it is. So mod_proxy need not send it in chunks,
 * which SCGI and uwsgi have no way to do; 100 Continue was answered by httpd;
 * and another process can be given the body from the start, if the first was
 * not sent a byte.
 *
 * With AppBufferRequest Off the same filter passes the body on as it comes,
 * and sees to it that LimitRequestBody holds: httpd forgets it for what goes
 * through mod_proxy.
 *
 * Lock:  none; no process is held while a body is read.
 * Crash: not concerned; see spool.h.
 * Trust: how much there is to read is httpd's to check (LimitRequestBody,
 *        RequestReadTimeout), and what a chunk is, too.
 */
#ifndef MOD_APPPOOL_BODY_REQUEST_BODY_H
#define MOD_APPPOOL_BODY_REQUEST_BODY_H

#include <httpd.h>

typedef struct apppool_request_body_t apppool_request_body_t;

/** Once, before any configuration's hooks run. */
void apppool_request_body_register(void);

/**
 * Read the body, if there is one.
 * @param label of the app, for the log
 * @return OK; or what the handler is to return: the client has gone, was too
 *         slow, or sent too much (413), or in a coding that is not chunked
 *         (501); there is no room for it (507)
 */
int apppool_request_body_begin(apppool_request_body_t **body, request_rec *r,
                               const char *label);

/** It is going to be read again, from the start if it was stored. */
void apppool_request_body_rewind(apppool_request_body_t *body);

/** Nobody wants to read it any more: r is as it was. */
void apppool_request_body_end(apppool_request_body_t *body);

#endif
