/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/fcgi_sending.h"

#include "mod_apppool/backend/cgi_environment.h"
#include "mod_apppool/backend/fcgi_request.h"
#include "shm/lock/lock_token.h"

void apppool_fcgi_sending_begin(apppool_fcgi_sending_t *sending, request_rec *r,
                                unsigned request, int keeps)
{
    apppool_fcgi_begin_t begin = {.request = request,
                                  .keeps = keeps,
                                  .ends =
                                      sending->kind == APPPOOL_FCGI_NO_BODY};
    const apppool_bare_packet_t *packet = sending->packet;
    unsigned char *bytes;
    apr_size_t n;

    sending->body.request = request;
    sending->body.is_bare = packet != NULL;
    if (packet) {
        apppool_app_output_put(&sending->out, 0, packet->bytes, packet->size);
        return;
    }
    apppool_cgi_environment_add(r);
    bytes = apppool_fcgi_request_make(r->pool, r->subprocess_env, &begin, &n);
    apppool_app_output_put(&sending->out, 0, bytes, n);
}

/* Is there more of the body to be sent? A body that cannot be read twice is not
 * read before the app has taken something. */
static int wants_body(const apppool_fcgi_sending_t *sending)
{
    return sending->kind != APPPOOL_FCGI_NO_BODY && !sending->body.ended &&
           !sending->out.hung_up && sending->out.parts[1].iov_len == 0 &&
           (sending->kind == APPPOOL_FCGI_STORED || sending->out.sent);
}

/* Read the next part of the body, if the client has sent one. */
static apr_status_t read_body(apppool_fcgi_sending_t *sending, request_rec *r)
{
    apr_status_t rv = apppool_fcgi_body_next(&sending->body, r);
    int had_waited = sending->waits;

    sending->waits = APR_STATUS_IS_EAGAIN(rv);
    if (sending->waits) {
        if (!had_waited)
            sending->waits_from = apl_now();
        return apl_now() - sending->waits_from < r->server->timeout
                   ? APR_SUCCESS
                   : APR_TIMEUP;
    }
    if (rv == APR_SUCCESS)
        apppool_app_output_put(&sending->out, 1, sending->body.record,
                               sending->body.size);
    return rv;
}

apr_status_t apppool_fcgi_sending_go_on(apppool_fcgi_sending_t *sending,
                                        request_rec *r, int fd)
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

int apppool_fcgi_sending_is_done(const apppool_fcgi_sending_t *sending)
{
    return (sending->kind == APPPOOL_FCGI_NO_BODY || sending->body.ended) &&
           apppool_app_output_is_empty(&sending->out) && !sending->out.hung_up;
}
