/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/fcgi.h"

#include <apr_portable.h>
#include <errno.h>
#include <http_log.h>
#include <http_protocol.h>
#include <poll.h>
#include <sys/socket.h>
#include <util_script.h>

#include "mod_apppool/backend/fcgi_body.h"
#include "mod_apppool/backend/fcgi_format.h"
#include "mod_apppool/backend/fcgi_output.h"
#include "mod_apppool/backend/fcgi_parser.h"
#include "mod_apppool/backend/fcgi_request.h"
#include "mod_apppool/backend/fcgi_response.h"
#include "mod_apppool/backend/fcgi_stderr.h"
#include "shm/lock/lock_token.h"

APLOG_USE_MODULE(apppool);

#define BUFFER  (32 * 1024) /* bytes that are read at once */
#define FLUSHED (16 * 1024) /* bytes of a response to an unread request */
#define SLICE   250         /* ms between two checks of the pool */
#define SOON    20          /* ms from the end of the output to END_REQUEST */
#define NAP     10          /* ms between two looks for more of a body */

#define SAY(fcgi, rv, ...)                                                     \
    ap_log_rerror(APLOG_MARK, APLOG_ERR, rv, (fcgi)->r, "apppool: " __VA_ARGS__)

#define DYING 250000 /* us from SIGKILL to the end of the connections */

/* Not OK, nor a status of HTTP: there is more to do. */
#define GO_ON (-1000)

struct apppool_fcgi_t {
    request_rec *r;
    const char *who;
    apppool_fcgi_kind_t kind;
    int local; /* over a Unix socket */
    apr_socket_t *sock;
    int fd;
    apppool_first_byte_t first_byte;
    int64_t began; /* us of apl_now() */
    /* To the app. */
    apppool_fcgi_output_t out; /* the parameters, and a part of the body */
    apppool_fcgi_body_t body;
    int waits;          /* the client has to send more of the body */
    int64_t waits_from; /* since when, us of apl_now() */
    /* From the app. */
    char *buffer;
    apppool_fcgi_parser_t parser;
    apppool_fcgi_response_t response;
    apppool_fcgi_stderr_t err;
    int heard;  /* at least one byte */
    int reset;  /* the connection was reset */
    int closed; /* by the app */
};

/* ---- begin and end ---- */

apppool_fcgi_t *apppool_fcgi_make(request_rec *r, const char *who,
                                  apppool_fcgi_kind_t kind)
{
    apppool_fcgi_t *fcgi = apr_pcalloc(r->pool, sizeof *fcgi);

    fcgi->r = r;
    fcgi->who = fcgi->response.who = fcgi->err.who = who;
    fcgi->kind = kind;
    fcgi->fd = -1;
    return fcgi;
}

apr_status_t apppool_fcgi_open(apppool_fcgi_t *fcgi,
                               const apppool_endpoint_t *endpoint,
                               int64_t deadline)
{
    apr_status_t rv =
        apppool_connect(&fcgi->sock, endpoint, deadline, fcgi->r->pool);

    fcgi->local = endpoint->wire.listen != APL_LISTEN_TCP;
    if (rv == APR_SUCCESS)
        apr_os_sock_get(&fcgi->fd, fcgi->sock);
    return rv;
}

void apppool_fcgi_close(apppool_fcgi_t *fcgi)
{
    if (fcgi->sock)
        apr_socket_close(fcgi->sock);
    fcgi->sock = NULL;
    fcgi->fd = -1;
}

int apppool_fcgi_descriptor(const apppool_fcgi_t *fcgi)
{
    return fcgi->fd;
}

int apppool_fcgi_has_ended(const apppool_fcgi_t *fcgi)
{
    return fcgi->parser.ended || fcgi->closed;
}

int apppool_fcgi_is_overloaded(const apppool_fcgi_t *fcgi)
{
    return fcgi->parser.ended && fcgi->parser.status == FCGI_OVERLOADED;
}

apppool_outcome_t apppool_fcgi_outcome(const apppool_fcgi_t *fcgi)
{
    const request_rec *r = fcgi->r;
    int may_repeat =
        apppool_connection_filter_may_repeat(
            r, fcgi->kind != APPPOOL_FCGI_NO_BODY, fcgi->local) &&
        (r->method_number == M_GET || r->method_number == M_OPTIONS) &&
        apl_now() - fcgi->began < DYING;

    if (!fcgi->out.sent && !fcgi->heard)
        return APPPOOL_UNSENT;
    return (fcgi->reset || fcgi->out.hung_up) && !fcgi->heard && may_repeat
               ? APPPOOL_UNREAD
               : APPPOOL_HEARD;
}

/* ---- to the app ---- */

static void make_parameters(apppool_fcgi_t *fcgi)
{
    request_rec *r = fcgi->r;
    unsigned char *bytes;
    apr_size_t n;

    ap_add_common_vars(r);
    ap_add_cgi_vars(r);
    bytes = apppool_fcgi_request_make(r->pool, r->subprocess_env,
                                      fcgi->kind == APPPOOL_FCGI_NO_BODY, &n);
    apppool_fcgi_output_put(&fcgi->out, 0, bytes, n);
}

/* Is there more of the body to be sent? A body that cannot be read twice is not
 * read before the app has taken something. */
static int wants_body(const apppool_fcgi_t *fcgi)
{
    return fcgi->kind != APPPOOL_FCGI_NO_BODY && !fcgi->body.ended &&
           !fcgi->out.hung_up && fcgi->out.parts[1].iov_len == 0 &&
           (fcgi->kind == APPPOOL_FCGI_STORED || fcgi->out.sent);
}

/* The body cannot be read. @return what the handler is to return */
static int fail_body(const apppool_fcgi_t *fcgi, apr_status_t rv)
{
    ap_log_rerror(APLOG_MARK, APLOG_INFO, rv, fcgi->r,
                  "apppool: %s: the request body was not received", fcgi->who);
    return fcgi->response.passed
               ? AP_FILTER_ERROR
               : ap_map_http_request_error(rv, HTTP_BAD_REQUEST);
}

/* Read the next part of the body, if the client has sent one.
 * @return GO_ON, or what the handler is to return */
static int read_body(apppool_fcgi_t *fcgi)
{
    apr_status_t rv = apppool_fcgi_body_next(&fcgi->body, fcgi->r);
    int had_waited = fcgi->waits;

    fcgi->waits = APR_STATUS_IS_EAGAIN(rv);
    if (fcgi->waits) {
        if (!had_waited)
            fcgi->waits_from = apl_now();
        return apl_now() - fcgi->waits_from < fcgi->r->server->timeout
                   ? GO_ON
                   : fail_body(fcgi, APR_TIMEUP);
    }
    if (rv != APR_SUCCESS)
        return fail_body(fcgi, rv);
    apppool_fcgi_output_put(&fcgi->out, 1, fcgi->body.record, fcgi->body.size);
    return GO_ON;
}

/* Send all that can be sent without waiting.
 * @return GO_ON, or what the handler is to return */
static int send_all(apppool_fcgi_t *fcgi)
{
    int status = GO_ON;

    do {
        if (wants_body(fcgi))
            status = read_body(fcgi);
    } while (status == GO_ON && apppool_fcgi_output_send(&fcgi->out, fcgi->fd));
    if (fcgi->out.hung_up)
        fcgi->waits = 0;
    return status;
}

/* ---- from the app ---- */

/* The response is complete. php-cgi waits for the end of the connection before
 * it takes another request, and a slow client may take its time.
 * @return what the handler is to return */
static int end_response(apppool_fcgi_t *fcgi)
{
    apppool_fcgi_close(fcgi);
    return apppool_fcgi_response_end(&fcgi->response, fcgi->r);
}

/* There is no more to come, without END_REQUEST.
 * @return what the handler is to return */
static int break_off(apppool_fcgi_t *fcgi, int status)
{
    if (fcgi->parser.stdout_ended)
        return end_response(fcgi);
    return fcgi->response.passed ? AP_FILTER_ERROR : status;
}

/* @return what the handler is to return */
static int end_wrong(const apppool_fcgi_t *fcgi)
{
    SAY(fcgi, 0, "%s sends wrong FastCGI: %s %u", fcgi->who, fcgi->parser.wrong,
        fcgi->parser.wrong_number);
    return fcgi->response.passed ? AP_FILTER_ERROR : HTTP_BAD_GATEWAY;
}

/* The app has not served the request. @return what the handler is to return */
static int end_refused(const apppool_fcgi_t *fcgi)
{
    unsigned status = fcgi->parser.status;

    SAY(fcgi, 0, "%s refuses the request: %s (FastCGI's status %u)", fcgi->who,
        apppool_fcgi_parser_refusal(&fcgi->parser), status);
    if (fcgi->response.passed)
        return AP_FILTER_ERROR;
    return status == FCGI_OVERLOADED ? HTTP_SERVICE_UNAVAILABLE
                                     : HTTP_BAD_GATEWAY;
}

/* @return what the handler is to return */
static int end_request(apppool_fcgi_t *fcgi)
{
    if (fcgi->parser.status != FCGI_REQUEST_COMPLETE)
        return end_refused(fcgi);
    if (fcgi->parser.app_status != 0)
        ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, fcgi->r,
                      "apppool: %s has ended the request with status %u",
                      fcgi->who, (unsigned)fcgi->parser.app_status);
    return end_response(fcgi);
}

/* All that the buffer holds. @return GO_ON, or what the handler is to return */
static int take(apppool_fcgi_t *fcgi, apr_size_t n)
{
    apppool_fcgi_parser_t *parser = &fcgi->parser;
    int status;

    apppool_fcgi_parser_give(parser, fcgi->buffer, n);
    for (;;) {
        switch (apppool_fcgi_parser_next(parser)) {
        case APPPOOL_FCGI_STDOUT:
            status = apppool_fcgi_response_add(
                &fcgi->response, fcgi->r, parser->piece, parser->piece_size);
            if (status != OK)
                return status;
            break;
        case APPPOOL_FCGI_STDERR:
            apppool_fcgi_stderr_add(&fcgi->err, fcgi->r, parser->piece,
                                    parser->piece_size);
            break;
        case APPPOOL_FCGI_STDOUT_END:
            break;
        case APPPOOL_FCGI_END:
            return end_request(fcgi);
        case APPPOOL_FCGI_WRONG:
            return end_wrong(fcgi);
        case APPPOOL_FCGI_MORE:
            status = apppool_fcgi_response_pass(&fcgi->response, fcgi->r);
            return status == OK ? GO_ON : status;
        }
    }
}

/* The connection has ended. @return what the handler is to return */
static int end_connection(apppool_fcgi_t *fcgi, int error)
{
    fcgi->closed = 1;
    fcgi->reset |= error == ECONNRESET;
    if (fcgi->heard && !fcgi->parser.stdout_ended &&
        !apppool_first_byte_is_cut_off(&fcgi->first_byte))
        SAY(fcgi, error,
            "%s has closed the connection before the end of the response",
            fcgi->who);
    return break_off(fcgi, HTTP_BAD_GATEWAY);
}

/* Read all that is there.
 * @return GO_ON, or what the handler is to return */
static int receive(apppool_fcgi_t *fcgi)
{
    int status = GO_ON;
    ssize_t n;

    while (status == GO_ON) {
        n = recv(fcgi->fd, fcgi->buffer, BUFFER, MSG_DONTWAIT);
        if (n > 0) {
            fcgi->heard = 1;
            status = take(fcgi, (apr_size_t)n);
        }
        else if (n == 0 || (errno != EAGAIN && errno != EINTR))
            status = end_connection(fcgi, n == 0 ? 0 : errno);
        else if (errno == EAGAIN)
            break;
    }
    return status;
}

/* ---- both ---- */

/* Until when may the app be silent? While the client is waited for, it may.
 * @return 0: for ever */
static int64_t limit_of(const apppool_fcgi_t *fcgi)
{
    return fcgi->first_byte.timeout < 0 || fcgi->waits
               ? 0
               : apl_now() + fcgi->first_byte.timeout;
}

/* The app was silent for too long, or it is being killed.
 * @return what the handler is to return */
static int give_up(apppool_fcgi_t *fcgi, int status)
{
    if (fcgi->response.passed && !fcgi->parser.stdout_ended)
        SAY(fcgi, 0, "%s was silent for too long within its response",
            fcgi->who);
    return break_off(fcgi, status);
}

/* A client that still sends may not read yet: a flush of more than its socket
 * holds would wait for ever. */
static int may_flush(const apppool_fcgi_t *fcgi)
{
    return fcgi->kind != APPPOOL_FCGI_STREAMED || fcgi->body.ended ||
           fcgi->out.hung_up || fcgi->response.size <= FLUSHED;
}

/* Wait until the app, or the client, does something. What the app has sent
 * before is passed on meanwhile.
 * @return GO_ON, or what the handler is to return */
static int wait_for_both(apppool_fcgi_t *fcgi)
{
    struct pollfd fds[] = {{fcgi->fd, POLLIN, 0}, {-1, POLLIN, 0}};
    int soon = fcgi->parser.stdout_ended, status;
    int64_t limit = limit_of(fcgi);
    int slice = SLICE;

    if (!apppool_fcgi_output_is_empty(&fcgi->out))
        fds[0].events |= POLLOUT;
    if (fcgi->waits)
        fds[1].fd = apppool_fcgi_body_descriptor(fcgi->r);
    if (fcgi->waits && fds[1].fd < 0)
        slice = NAP;
    if (soon && poll(fds, 2, SOON) > 0)
        return GO_ON;
    if (may_flush(fcgi)) {
        status = apppool_fcgi_response_flush(&fcgi->response, fcgi->r);
        if (status != OK)
            return status;
    }
    while (poll(fds, 2, slice) <= 0) {
        if (!fcgi->heard && apppool_first_byte_is_hopeless(&fcgi->first_byte))
            return give_up(fcgi, HTTP_BAD_GATEWAY);
        if (limit > 0 && apl_now() >= limit)
            return give_up(fcgi, HTTP_GATEWAY_TIME_OUT);
        if (fcgi->waits)
            break;
    }
    return GO_ON;
}

int apppool_fcgi_run(apppool_fcgi_t *fcgi,
                     const apppool_first_byte_t *first_byte)
{
    int status;

    fcgi->first_byte = *first_byte;
    fcgi->began = apl_now();
    fcgi->buffer = apr_palloc(fcgi->r->pool, BUFFER);
    make_parameters(fcgi);
    for (;;) {
        status = send_all(fcgi);
        if (status == GO_ON)
            status = wait_for_both(fcgi);
        if (status == GO_ON)
            status = receive(fcgi);
        if (status != GO_ON)
            break;
    }
    apppool_fcgi_stderr_end(&fcgi->err, fcgi->r);
    return status;
}
