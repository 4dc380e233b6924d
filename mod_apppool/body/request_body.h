/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file request_body.h
 * @brief The body of a request. It is read before a process is asked for, so a
 *        slow upload holds no process.
 *
 *     status = apppool_request_body_begin(&body, r, label);
 *     if (status != OK)
 *         return status;
 *     ... for each attempt:  apppool_request_body_rewind(body);
 *     apppool_request_body_end(body);
 *
 * In between, r has another body: an input filter passes on what was read, and
 * the headers say how long it is. So:
 *  - it need not be sent in chunks, which CGI does not have;
 *  - httpd has responded to Expect: 100-continue;
 *  - another process can get the body from the start, if no byte was sent to
 *    the first one.
 *
 * With AppBufferRequest Off the same filter passes the body on as it comes, and
 * enforces LimitRequestBody, which httpd ignores for requests that it takes for
 * those of a proxy.
 *
 * Lock:  none; no process is held while a body is read.
 * Trust: httpd checks how much is read (LimitRequestBody, RequestReadTimeout)
 *        and the form of chunks.
 */
#ifndef MOD_APPPOOL_BODY_REQUEST_BODY_H
#define MOD_APPPOOL_BODY_REQUEST_BODY_H

#include <httpd.h>

typedef struct apppool_request_body_t apppool_request_body_t;

/** Call it once, before the hooks of any configuration run. */
void apppool_request_body_register(void);

/**
 * Read the body, if there is one.
 * @param label of the app, for the log
 * @return OK; or what the handler is to return: the client has left or was too
 *         slow; the body is too long (413), has a coding other than chunked
 *         (501), or does not fit on the disk (507)
 */
int apppool_request_body_begin(apppool_request_body_t **body, request_rec *r,
                               const char *label);

/** In CGI a body has a length. If the length of this body is not known, because
 * it comes in chunks or filters may change it, read and store it. @return as
 * apppool_request_body_begin() */
int apppool_request_body_find_length(apppool_request_body_t *body);

/** Is there a body that is not known to be empty? */
int apppool_request_body_is_there(const apppool_request_body_t *body);

/** How many bytes has it? @return -1: it is not known before it was read */
apr_off_t apppool_request_body_length(const apppool_request_body_t *body);

/** Was it read to its end? */
int apppool_request_body_is_stored(const apppool_request_body_t *body);

/** The body will be read again: from the start, if it was stored. */
void apppool_request_body_rewind(apppool_request_body_t *body);

/** The body is not read any more: make r as it was before. */
void apppool_request_body_end(apppool_request_body_t *body);

#endif
