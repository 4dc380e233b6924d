/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/fcgi.h"

#include <errno.h>
#include <http_log.h>
#include <http_protocol.h>
#include <poll.h>
#include <sys/socket.h>

#include "mod_apppool/backend/fcgi_connection.h"
#include "mod_apppool/backend/fcgi_format.h"
#include "mod_apppool/backend/fcgi_parser.h"
#include "mod_apppool/backend/fcgi_response.h"
#include "mod_apppool/backend/fcgi_sending.h"
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
    int local; /* over a Unix socket */
    apppool_fcgi_connection_t connection;
    apppool_first_byte_t first_byte;
    int64_t began; /* us of apl_now() */
    /* To the app. */
    apppool_fcgi_sending_t sending;
    /* From the app. */
    char *buffer;
    apppool_fcgi_parser_t parser;
    apppool_fcgi_response_t response;
    apppool_fcgi_stderr_t err;
    int heard;  /* at least one byte */
    int begun;  /* a record of this request */
    int stray;  /* what came is a rest of another request */
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
    fcgi->sending.kind = kind;
    fcgi->connection.fd = -1;
    return fcgi;
}

apr_status_t apppool_fcgi_open(apppool_fcgi_t *fcgi,
                               const apppool_endpoint_t *endpoint,
                               apppool_shared_connection_t *shared,
                               int64_t deadline)
{
    apr_status_t rv = apppool_fcgi_connection_open(
        &fcgi->connection, endpoint, shared, deadline, fcgi->r->pool);

    fcgi->local = endpoint->wire.listen != APL_LISTEN_TCP;
    fcgi->parser.request = fcgi->connection.request;
    return rv;
}

int apppool_fcgi_descriptor(const apppool_fcgi_t *fcgi)
{
    return fcgi->connection.fd;
}

int apppool_fcgi_has_reused(const apppool_fcgi_t *fcgi)
{
    return fcgi->connection.reused;
}

int apppool_fcgi_has_ended(const apppool_fcgi_t *fcgi)
{
    return fcgi->parser.ended || fcgi->closed;
}

int apppool_fcgi_is_overloaded(const apppool_fcgi_t *fcgi)
{
    return fcgi->parser.ended && fcgi->parser.status == FCGI_OVERLOADED;
}

/* It had carried another request, and the app has taken no more. */
static int is_lost(const apppool_fcgi_t *fcgi)
{
    return fcgi->connection.reused &&
           (fcgi->stray ||
            (!fcgi->heard && (fcgi->closed || fcgi->sending.out.hung_up)));
}

/* May the next request use the connection? All of this one was sent, it had no
 * body, and nothing has come behind its response. */
static int is_clean(const apppool_fcgi_t *fcgi)
{
    return apppool_fcgi_parser_is_clean(&fcgi->parser) &&
           fcgi->parser.status == FCGI_REQUEST_COMPLETE &&
           fcgi->sending.kind == APPPOOL_FCGI_NO_BODY &&
           apppool_fcgi_sending_is_done(&fcgi->sending) &&
           fcgi->response.has_header;
}

void apppool_fcgi_close(apppool_fcgi_t *fcgi)
{
    apppool_fcgi_connection_end(&fcgi->connection,
                                is_clean(fcgi)  ? APPPOOL_FCGI_CLEAN
                                : is_lost(fcgi) ? APPPOOL_FCGI_FAILED
                                                : APPPOOL_FCGI_CUT);
}

apppool_outcome_t apppool_fcgi_outcome(const apppool_fcgi_t *fcgi)
{
    const request_rec *r = fcgi->r;
    int may_repeat =
        apppool_connection_filter_may_repeat(
            r, fcgi->sending.kind != APPPOOL_FCGI_NO_BODY, fcgi->local) &&
        (r->method_number == M_GET || r->method_number == M_OPTIONS) &&
        (fcgi->stray || apl_now() - fcgi->began < DYING);
    int was_reset = (fcgi->reset || fcgi->sending.out.hung_up) && !fcgi->heard;

    if (!fcgi->sending.out.sent && !fcgi->heard)
        return APPPOOL_UNSENT;
    return (was_reset || is_lost(fcgi)) && may_repeat ? APPPOOL_UNREAD
                                                      : APPPOOL_HEARD;
}

/* ---- to the app ---- */

/* Send all that can be sent without waiting.
 * @return GO_ON, or what the handler is to return */
static int send_all(apppool_fcgi_t *fcgi)
{
    apr_status_t rv = apppool_fcgi_sending_go_on(&fcgi->sending, fcgi->r,
                                                 fcgi->connection.fd);

    if (rv == APR_SUCCESS)
        return GO_ON;
    ap_log_rerror(APLOG_MARK, APLOG_INFO, rv, fcgi->r,
                  "apppool: %s: the request body was not received", fcgi->who);
    return fcgi->response.passed
               ? AP_FILTER_ERROR
               : ap_map_http_request_error(rv, HTTP_BAD_REQUEST);
}

/* ---- from the app ---- */

/* The response is complete. A slow client may take its time, and the app waits
 * for the next request, or for the end of the connection.
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

/* Before anything of this response. @return what the handler is to return */
static int end_stray(apppool_fcgi_t *fcgi)
{
    fcgi->stray = 1;
    ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, fcgi->r,
                  "apppool: %s has sent something over its shared "
                  "connection that belongs to no request: %s %u",
                  fcgi->who, fcgi->parser.wrong, fcgi->parser.wrong_number);
    return HTTP_BAD_GATEWAY;
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
    apppool_fcgi_event_t event;
    int status;

    apppool_fcgi_parser_give(parser, fcgi->buffer, n);
    for (;;) {
        event = apppool_fcgi_parser_next(parser);
        fcgi->begun |=
            event != APPPOOL_FCGI_MORE && event != APPPOOL_FCGI_WRONG;
        switch (event) {
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
            return fcgi->connection.reused && !fcgi->begun ? end_stray(fcgi)
                                                           : end_wrong(fcgi);
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
        n = recv(fcgi->connection.fd, fcgi->buffer, BUFFER, MSG_DONTWAIT);
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
    return fcgi->first_byte.timeout < 0 || fcgi->sending.waits
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
    return fcgi->sending.kind != APPPOOL_FCGI_STREAMED ||
           fcgi->sending.body.ended || fcgi->sending.out.hung_up ||
           fcgi->response.size <= FLUSHED;
}

/* Wait until the app, or the client, does something. What the app has sent
 * before is passed on meanwhile.
 * @return GO_ON, or what the handler is to return */
static int wait_for_both(apppool_fcgi_t *fcgi)
{
    struct pollfd fds[] = {{fcgi->connection.fd, POLLIN, 0}, {-1, POLLIN, 0}};
    int soon = fcgi->parser.stdout_ended, status;
    int64_t limit = limit_of(fcgi);
    int slice = SLICE;

    if (!apppool_fcgi_output_is_empty(&fcgi->sending.out))
        fds[0].events |= POLLOUT;
    if (fcgi->sending.waits)
        fds[1].fd = apppool_fcgi_body_descriptor(fcgi->r);
    if (fcgi->sending.waits && fds[1].fd < 0)
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
        if (fcgi->sending.waits)
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
    apppool_fcgi_sending_begin(&fcgi->sending, fcgi->r,
                               fcgi->connection.request,
                               fcgi->connection.keeps);
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
