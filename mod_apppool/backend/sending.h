/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file sending.h
 * @brief Sends the head and the body of a request to an app, as far as the app
 *        takes it. Between two calls, the caller reads what the app sends.
 *
 * The caller makes the head. The body is sent in pieces, each with what its
 * protocol wants before and behind it. The bytes are not copied on their way.
 *
 *     PLAIN     scgi, uwsgi, HTTP with Content-Length: nothing
 *     CHUNKED   HTTP: its size before, the end of line behind
 *     RECORDS   FastCGI: the header of a record before
 *
 * Trust: the bytes are the client's. An app may close its end at any time. That
 *        is no error of the request: the app may have responded before.
 */
#ifndef MOD_APPPOOL_BACKEND_SENDING_H
#define MOD_APPPOOL_BACKEND_SENDING_H

#include <httpd.h>
#include <stdint.h>
#include <sys/uio.h>

/** Does the request have a body, and of what kind? */
typedef enum {
    APPPOOL_SENDING_NO_BODY,
    APPPOOL_SENDING_STORED,  /**< it can be read again from its start */
    APPPOOL_SENDING_STREAMED /**< it is read as the client sends it */
} apppool_sending_kind_t;

typedef enum {
    APPPOOL_SENDING_PLAIN,
    APPPOOL_SENDING_CHUNKED,
    APPPOOL_SENDING_RECORDS
} apppool_sending_framing_t;

#define APPPOOL_SENDING_PARTS 24 /**< that are sent by one call */

/** The caller sets the first three; the rest is zeroed. */
typedef struct {
    apppool_sending_kind_t kind;
    apppool_sending_framing_t framing;
    unsigned request; /**< of RECORDS: id of the request */
    int sent;         /**< at least one byte was */
    int hung_up;      /**< the app reads no more: nothing is sent */
    int waits;        /**< the client has to send more of the body */
    struct iovec parts[APPPOOL_SENDING_PARTS]; /**< of head, body and framing */
    int first, count;                          /**< of what is to be sent */
    int ended;                   /**< the end of the body is among them */
    int64_t waits_from;          /**< us of apl_now(), if `waits` */
    apr_bucket_brigade *bb;      /**< of the body, and not yet in a piece */
    apr_bucket_brigade *piece;   /**< that is being sent */
    char before[20], behind[20]; /**< that piece */
} apppool_sending_t;

/** Add bytes to the head. The caller keeps them unchanged until they were
 * sent. */
void apppool_sending_add(apppool_sending_t *sending, const void *bytes,
                         apr_size_t n);

/**
 * Send all that can be sent without waiting.
 * @param label of the app, for the log
 * @return OK; a status: the client does not send the body, or it is too long
 */
int apppool_sending_go_on(apppool_sending_t *sending, request_rec *r,
                          const char *label, int fd);

/** Is something to be sent that the app has not taken yet? */
int apppool_sending_is_held(const apppool_sending_t *sending);

/** May there be more of the body that was not read from the client? */
int apppool_sending_has_more(const apppool_sending_t *sending);

/** Is nothing left to be sent? It may be that the app does not read all. */
int apppool_sending_is_over(const apppool_sending_t *sending);

#endif
