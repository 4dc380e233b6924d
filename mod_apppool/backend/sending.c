/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/sending.h"

#include <errno.h>
#include <http_log.h>
#include <http_protocol.h>
#include <stdio.h>
#include <sys/socket.h>
#include <util_filter.h>

#include "mod_apppool/backend/fcgi_format.h"
#include "mod_apppool/backend/fcgi_request.h"
#include "shm/lock/lock_token.h"

APLOG_USE_MODULE(apppool);

#define AT_ONCE (64 * 1024) /* bytes that are read from the client */
#define RECORD  (32 * 1024) /* bytes of the body in a record, at most */

/* ---- what is to be sent ---- */

void apppool_sending_add(apppool_sending_t *sending, const void *bytes,
                         apr_size_t n)
{
    if (n > 0)
        sending->parts[sending->count++] = (struct iovec){(void *)bytes, n};
}

int apppool_sending_is_held(const apppool_sending_t *sending)
{
    return sending->first < sending->count;
}

static void advance(apppool_sending_t *sending, size_t n)
{
    struct iovec *part = sending->parts + sending->first;

    for (; n > 0 && n >= part->iov_len; part++, sending->first++)
        n -= part->iov_len;
    if (n > 0) {
        part->iov_base = (char *)part->iov_base + n;
        part->iov_len -= n;
    }
    if (!apppool_sending_is_held(sending))
        sending->first = sending->count = 0;
}

/* @return 0: nothing was sent */
static int send_parts(apppool_sending_t *sending, int fd)
{
    struct msghdr message = {.msg_iov = sending->parts + sending->first,
                             .msg_iovlen =
                                 (size_t)(sending->count - sending->first)};
    ssize_t n;

    if (!apppool_sending_is_held(sending))
        return 0;
    do
        n = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    if (n > 0) {
        sending->sent = 1;
        advance(sending, (size_t)n);
        return 1;
    }
    if (n < 0 && errno != EAGAIN) {
        sending->hung_up = 1;
        sending->first = sending->count = 0;
    }
    return 0;
}

/* ---- a piece of the body ---- */

/* Does nothing but the end follow? */
static int is_at_end(apr_bucket_brigade *bb)
{
    apr_bucket *b;

    while (!APR_BRIGADE_EMPTY(bb)) {
        b = APR_BRIGADE_FIRST(bb);
        if (!APR_BUCKET_IS_METADATA(b) || APR_BUCKET_IS_EOS(b))
            return APR_BUCKET_IS_EOS(b);
        apr_bucket_delete(b);
    }
    return 0;
}

/* Never waits. @return APR_EAGAIN: there is nothing yet */
static apr_status_t read_client(apppool_sending_t *sending, request_rec *r)
{
    apr_bucket_alloc_t *list = r->connection->bucket_alloc;
    apr_status_t rv;

    if (!sending->bb) {
        sending->bb = apr_brigade_create(r->pool, list);
        sending->piece = apr_brigade_create(r->pool, list);
    }
    /* A filter of another module may have returned more than it was asked
     * for. */
    if (!APR_BRIGADE_EMPTY(sending->bb))
        return APR_SUCCESS;
    rv = ap_get_brigade(r->input_filters, sending->bb, AP_MODE_READBYTES,
                        APR_NONBLOCK_READ, AT_ONCE);
    return rv == APR_SUCCESS && APR_BRIGADE_EMPTY(sending->bb) ? APR_EAGAIN
                                                               : rv;
}

/* Move bytes to the piece. What a filter of TLS has returned is copied, because
 * the next look at the client would overwrite it.
 * @param n bytes, at most; then how many */
static apr_status_t take_bytes(apppool_sending_t *sending, request_rec *r,
                               apr_size_t *n)
{
    apr_bucket *b = APR_BRIGADE_FIRST(sending->bb);
    apr_size_t most = *n;
    const char *bytes;
    apr_status_t rv = apr_bucket_setaside(b, r->pool);

    if (rv == APR_SUCCESS || APR_STATUS_IS_ENOTIMPL(rv))
        rv = apr_bucket_read(b, &bytes, n, APR_BLOCK_READ);
    if (rv == APR_SUCCESS && *n > most) {
        rv = apr_bucket_split(b, most);
        *n = most;
    }
    if (rv != APR_SUCCESS)
        return rv;
    APR_BUCKET_REMOVE(b);
    APR_BRIGADE_INSERT_TAIL(sending->piece, b);
    apppool_sending_add(sending, bytes, *n);
    return APR_SUCCESS;
}

/* @param n bytes of the piece, more than 0 */
static apr_size_t make_before(apppool_sending_t *sending, apr_size_t n)
{
    if (sending->framing == APPPOOL_SENDING_CHUNKED)
        return (apr_size_t)snprintf(sending->before, sizeof sending->before,
                                    "%zx\r\n", n);
    apppool_fcgi_request_header((unsigned char *)sending->before, FCGI_STDIN,
                                sending->request, n);
    return FCGI_HEADER;
}

static void add_behind(apppool_sending_t *sending, apr_size_t n)
{
    apr_size_t size = 0;

    if (sending->framing == APPPOOL_SENDING_CHUNKED)
        size = (apr_size_t)snprintf(sending->behind, sizeof sending->behind,
                                    "%s%s", n > 0 ? "\r\n" : "",
                                    sending->ended ? "0\r\n\r\n" : "");
    else if (sending->framing == APPPOOL_SENDING_RECORDS && sending->ended) {
        apppool_fcgi_request_header((unsigned char *)sending->behind,
                                    FCGI_STDIN, sending->request, 0);
        size = FCGI_HEADER;
    }
    apppool_sending_add(sending, sending->behind, size);
}

/* Read the next piece, if the client has sent one, and add it.
 * @return APR_EAGAIN: there is nothing yet */
static apr_status_t add_piece(apppool_sending_t *sending, request_rec *r)
{
    apr_size_t left =
        sending->framing == APPPOOL_SENDING_RECORDS ? RECORD : AT_ONCE;
    int before = sending->count;
    apr_size_t n = 0, some;
    apr_status_t rv = read_client(sending, r);

    if (rv != APR_SUCCESS)
        return rv;
    apr_brigade_cleanup(sending->piece);
    if (sending->framing != APPPOOL_SENDING_PLAIN)
        sending->count++;
    while (!(sending->ended = is_at_end(sending->bb)) &&
           !APR_BRIGADE_EMPTY(sending->bb) && left > 0 &&
           sending->count < APPPOOL_SENDING_PARTS - 1) {
        some = left;
        rv = take_bytes(sending, r, &some);
        if (rv != APR_SUCCESS)
            return rv;
        n += some;
        left -= some;
    }
    if (sending->framing != APPPOOL_SENDING_PLAIN && n > 0)
        sending->parts[before] =
            (struct iovec){sending->before, make_before(sending, n)};
    else if (n == 0)
        sending->count = before;
    add_behind(sending, n);
    return n > 0 || sending->ended ? APR_SUCCESS : APR_EAGAIN;
}

/* ---- both ---- */

/* A body that cannot be read twice is not read before the app has taken
 * something. */
static int wants_piece(const apppool_sending_t *sending)
{
    int goes_with_head =
        sending->kind == APPPOOL_SENDING_STORED && !sending->bb;

    return sending->kind != APPPOOL_SENDING_NO_BODY && !sending->ended &&
           !sending->hung_up &&
           (goes_with_head || !apppool_sending_is_held(sending));
}

static apr_status_t add_body(apppool_sending_t *sending, request_rec *r)
{
    apr_status_t rv = add_piece(sending, r);
    int had_waited = sending->waits;

    sending->waits = APR_STATUS_IS_EAGAIN(rv);
    if (!sending->waits)
        return rv;
    if (!had_waited)
        sending->waits_from = apl_now();
    return apl_now() - sending->waits_from < r->server->timeout ? APR_SUCCESS
                                                                : APR_TIMEUP;
}

int apppool_sending_go_on(apppool_sending_t *sending, request_rec *r,
                          const char *label, int fd)
{
    apr_status_t rv = APR_SUCCESS;

    do {
        if (wants_piece(sending))
            rv = add_body(sending, r);
    } while (rv == APR_SUCCESS && send_parts(sending, fd));
    if (sending->hung_up)
        sending->waits = 0;
    if (rv == APR_SUCCESS)
        return OK;
    ap_log_rerror(APLOG_MARK, APLOG_INFO, rv, r,
                  "apppool: %s: the request body was not received", label);
    return ap_map_http_request_error(rv, HTTP_BAD_REQUEST);
}

int apppool_sending_has_more(const apppool_sending_t *sending)
{
    return sending->kind == APPPOOL_SENDING_STREAMED && !sending->ended &&
           !sending->hung_up;
}

int apppool_sending_is_over(const apppool_sending_t *sending)
{
    return sending->hung_up ||
           ((sending->kind == APPPOOL_SENDING_NO_BODY || sending->ended) &&
            !apppool_sending_is_held(sending));
}
