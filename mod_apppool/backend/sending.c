/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/sending.h"

#include <util_filter.h>

#include "mod_apppool/backend/cgi_environment.h"
#include "mod_apppool/backend/fcgi_format.h"
#include "mod_apppool/backend/fcgi_request.h"
#include "shm/lock/lock_token.h"

#define PIECE (32 * 1024) /* bytes of the body in a record */

void apppool_sending_begin(apppool_sending_t *sending, request_rec *r,
                           unsigned request, int keeps)
{
    apppool_fcgi_begin_t begin = {.request = request,
                                  .keeps = keeps,
                                  .ends =
                                      sending->kind == APPPOOL_SENDING_NO_BODY};
    const apppool_bare_packet_t *packet = sending->packet;
    unsigned char *bytes;
    apr_size_t n;

    sending->request = request;
    if (packet) {
        apppool_app_output_put(&sending->out, 0, packet->bytes, packet->size);
        return;
    }
    apppool_cgi_environment_add(r);
    bytes = apppool_fcgi_request_make(r->pool, r->subprocess_env, &begin, &n);
    apppool_app_output_put(&sending->out, 0, bytes, n);
}

/* ---- the body ---- */

static void prepare(apppool_sending_t *sending, request_rec *r)
{
    sending->bb = apr_brigade_create(r->pool, r->connection->bucket_alloc);
    sending->piece = apr_palloc(r->pool, FCGI_HEADER + PIECE + FCGI_HEADER);
}

/* Read the next piece, if the client has sent one. Never waits.
 * @param n bytes of it
 * @return APR_SUCCESS; APR_EAGAIN: there is nothing yet; or why the body cannot
 *         be read */
static apr_status_t read_piece(apppool_sending_t *sending, request_rec *r,
                               unsigned char *at, apr_size_t *n)
{
    apr_status_t rv = APR_SUCCESS;
    apr_bucket *next;

    /* A filter of another module may have returned more than PIECE. */
    if (APR_BRIGADE_EMPTY(sending->bb))
        rv = ap_get_brigade(r->input_filters, sending->bb, AP_MODE_READBYTES,
                            APR_NONBLOCK_READ, PIECE);
    if (rv != APR_SUCCESS)
        return rv;
    if (APR_BRIGADE_EMPTY(sending->bb))
        return APR_EAGAIN;
    rv = apr_brigade_partition(sending->bb, PIECE, &next);
    if (rv != APR_SUCCESS && rv != APR_INCOMPLETE)
        return rv;
    sending->rest = apr_brigade_split_ex(sending->bb, next, sending->rest);
    sending->ended = APR_BUCKET_IS_EOS(APR_BRIGADE_LAST(sending->bb));
    *n = PIECE;
    rv = apr_brigade_flatten(sending->bb, (char *)at, n);
    apr_brigade_cleanup(sending->bb);
    APR_BRIGADE_CONCAT(sending->bb, sending->rest);
    return rv;
}

/* @param n bytes of the body in it
 * @return behind it */
static unsigned char *end_record(const apppool_sending_t *sending, apr_size_t n)
{
    unsigned char *at = sending->piece;

    if (n > 0)
        at = apppool_fcgi_request_header(at, FCGI_STDIN, sending->request, n) +
             n;
    if (sending->ended)
        at = apppool_fcgi_request_header(at, FCGI_STDIN, sending->request, 0);
    return at;
}

static apr_status_t put_piece(apppool_sending_t *sending, request_rec *r)
{
    int is_bare = sending->packet != NULL;
    apr_size_t n;
    apr_status_t rv;

    if (!sending->bb)
        prepare(sending, r);
    rv = read_piece(sending, r, sending->piece + (is_bare ? 0 : FCGI_HEADER),
                    &n);
    if (rv != APR_SUCCESS)
        return rv;
    if (!is_bare)
        n = (apr_size_t)(end_record(sending, n) - sending->piece);
    apppool_app_output_put(&sending->out, 1, sending->piece, n);
    return n > 0 || sending->ended ? APR_SUCCESS : APR_EAGAIN;
}

/* Is there more of the body to be sent? A body that cannot be read twice is not
 * read before the app has taken something. */
static int wants_body(const apppool_sending_t *sending)
{
    return sending->kind != APPPOOL_SENDING_NO_BODY && !sending->ended &&
           !sending->out.hung_up && sending->out.parts[1].iov_len == 0 &&
           (sending->kind == APPPOOL_SENDING_STORED || sending->out.sent);
}

static apr_status_t read_body(apppool_sending_t *sending, request_rec *r)
{
    apr_status_t rv = put_piece(sending, r);
    int had_waited = sending->waits;

    sending->waits = APR_STATUS_IS_EAGAIN(rv);
    if (!sending->waits)
        return rv;
    if (!had_waited)
        sending->waits_from = apl_now();
    return apl_now() - sending->waits_from < r->server->timeout ? APR_SUCCESS
                                                                : APR_TIMEUP;
}

apr_status_t apppool_sending_go_on(apppool_sending_t *sending, request_rec *r,
                                   int fd)
{
    apr_status_t rv = APR_SUCCESS;

    do {
        if (wants_body(sending))
            rv = read_body(sending, r);
    } while (rv == APR_SUCCESS && apppool_app_output_send(&sending->out, fd));
    if (sending->out.hung_up)
        sending->waits = 0;
    return rv;
}

int apppool_sending_is_done(const apppool_sending_t *sending)
{
    return (sending->kind == APPPOOL_SENDING_NO_BODY || sending->ended) &&
           apppool_app_output_is_empty(&sending->out) && !sending->out.hung_up;
}
