/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/client_cgi.h"

#include <errno.h>
#include <http_log.h>
#include <http_protocol.h>
#include <poll.h>

#include "mod_apppool/backend/client_socket.h"
#include "mod_apppool/backend/fcgi_end.h"
#include "mod_apppool/backend/fcgi_format.h"
#include "mod_apppool/backend/fcgi_sending.h"
#include "mod_apppool/backend/fcgi_wait.h"
#include "shm/lock/lock_token.h"
#include "shm/slots/connection_room.h"

APLOG_USE_MODULE(apppool);

#define FLUSHED (16 * 1024) /* bytes of a response to an unread request */
#define SLICE   250         /* ms between two checks of the pool */
#define SOON    20          /* ms from the end of the output to END_REQUEST */
#define AT_ONCE 5  /* ms between two parts of a response without records */
#define NAP     10 /* ms between two looks for more of a body */

/* There is more to do. This value is neither OK nor a status of HTTP. */
#define GO_ON   (-1000)

#define DYING   250000 /* us from SIGKILL to the end of the connections */

/* ---- begin and end ---- */

apppool_client_cgi_t *apppool_client_cgi_make(request_rec *r, const char *label,
                                              apppool_fcgi_kind_t kind,
                                              apppool_bare_packet_t *packet)
{
    apppool_client_cgi_t *fcgi = apr_pcalloc(r->pool, sizeof *fcgi);

    fcgi->r = r;
    fcgi->label = fcgi->response.label = fcgi->err.label = label;
    fcgi->sending.kind = kind;
    fcgi->is_bare = fcgi->response.is_bare = packet != NULL;
    fcgi->response.is_uwsgi = packet && packet->is_uwsgi;
    fcgi->sending.packet = packet;
    fcgi->connection.fd = -1;
    if (packet) {
        fcgi->connection.sock = packet->sock;
        packet->sock = NULL;
    }
    return fcgi;
}

/* One more than that of the last request: the process has ended a session
 * since. */
static unsigned next_id(const apppool_endpoint_t *endpoint,
                        const apppool_parked_t *shared)
{
    uint64_t ended =
        apl_connection_room_ended(shared->state.pool, endpoint->id);

    return FCGI_ID_NEXT + (unsigned)(ended % FCGI_IDS);
}

apr_status_t apppool_client_cgi_open(apppool_client_cgi_t *fcgi,
                                     const apppool_endpoint_t *endpoint,
                                     apppool_parked_t *shared, int64_t deadline)
{
    apr_status_t rv = apppool_app_connection_open(
        &fcgi->connection, endpoint, shared, deadline, fcgi->r->pool);

    fcgi->local = endpoint->wire.listen != APL_LISTEN_TCP;
    fcgi->parser.request =
        fcgi->connection.reused ? next_id(endpoint, shared) : FCGI_ID;
    return rv;
}

void apppool_client_cgi_log_to(apppool_client_cgi_t *fcgi, apl_pool_t *pool,
                               uint64_t id, int has_log)
{
    fcgi->err.pool = pool;
    fcgi->err.id = id;
    fcgi->err.has_log = has_log;
}

int apppool_client_cgi_descriptor(const apppool_client_cgi_t *fcgi)
{
    return fcgi->connection.fd;
}

int apppool_client_cgi_has_reused(const apppool_client_cgi_t *fcgi)
{
    return fcgi->connection.reused;
}

int apppool_client_cgi_has_ended(const apppool_client_cgi_t *fcgi)
{
    return fcgi->parser.ended || fcgi->closed;
}

int apppool_client_cgi_is_overloaded(const apppool_client_cgi_t *fcgi)
{
    return fcgi->parser.ended && fcgi->parser.status == FCGI_OVERLOADED;
}

void apppool_client_cgi_close(apppool_client_cgi_t *fcgi)
{
    apppool_fcgi_end_use(fcgi);
}

apppool_outcome_t apppool_client_cgi_outcome(const apppool_client_cgi_t *fcgi)
{
    int has_body = fcgi->sending.kind != APPPOOL_FCGI_NO_BODY;
    int may_repeat =
        apppool_outcome_may_repeat(fcgi->r, has_body) &&
        (fcgi->is_bare || fcgi->stray || apl_now() - fcgi->began < DYING);
    int was_reset = (fcgi->reset || fcgi->sending.out.hung_up) && !fcgi->heard;

    if (!fcgi->sending.out.sent && !fcgi->heard)
        return APPPOOL_UNSENT;
    return (was_reset || apppool_fcgi_end_is_lost(fcgi)) && may_repeat
               ? APPPOOL_BROKEN
               : APPPOOL_HEARD;
}

/* ---- to the app ---- */

/* Send all that can be sent without waiting.
 * @return GO_ON, or what the handler is to return */
static int send_all(apppool_client_cgi_t *fcgi)
{
    apr_status_t rv = apppool_fcgi_sending_go_on(&fcgi->sending, fcgi->r,
                                                 fcgi->connection.fd);

    if (rv == APR_SUCCESS)
        return GO_ON;
    ap_log_rerror(APLOG_MARK, APLOG_INFO, rv, fcgi->r,
                  "apppool: %s: the request body was not received",
                  fcgi->label);
    return fcgi->response.parts.passed
               ? AP_FILTER_ERROR
               : ap_map_http_request_error(rv, HTTP_BAD_REQUEST);
}

/* ---- from the app ---- */

/* @return GO_ON, or what the handler is to return */
static int pass_on(apppool_client_cgi_t *fcgi)
{
    int status = apppool_response_parts_pass(&fcgi->response.parts, fcgi->r);

    return status == OK ? GO_ON : status;
}

/* Use everything that the buffer holds. @return GO_ON, or what the handler is
 * to return */
static int take(apppool_client_cgi_t *fcgi, apr_size_t n)
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
            status = apppool_cgi_response_add(
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
            return apppool_fcgi_end_request(fcgi);
        case APPPOOL_FCGI_WRONG:
            return fcgi->connection.reused && !fcgi->begun
                       ? apppool_fcgi_end_stray(fcgi)
                       : apppool_fcgi_end_wrong(fcgi);
        case APPPOOL_FCGI_MORE:
            return pass_on(fcgi);
        }
    }
}

/* Over FastCGI: read all that is there.
 * @return GO_ON, or what the handler is to return */
static int receive_records(apppool_client_cgi_t *fcgi)
{
    int status = GO_ON;
    ssize_t n;

    while (status == GO_ON) {
        n = apppool_fcgi_wait_receive(fcgi);
        if (n > 0) {
            fcgi->heard = 1;
            status = take(fcgi, (apr_size_t)n);
        }
        else if (n == 0 || (errno != EAGAIN && errno != EINTR))
            status = apppool_fcgi_end_connection(fcgi, n == 0 ? 0 : errno);
        else if (errno == EAGAIN)
            break;
    }
    return status;
}

/* Over scgi and uwsgi: look at what is held.
 * @return GO_ON, or what the handler is to return */
static int take_held(apppool_client_cgi_t *fcgi)
{
    apr_size_t n = fcgi->held;
    int status;

    fcgi->held = 0;
    fcgi->has_waited = 0;
    status =
        apppool_cgi_response_add(&fcgi->response, fcgi->r, fcgi->buffer, n);
    return status == OK ? GO_ON : status;
}

/* Look at what is held, and pass it on. */
static int pass_held(apppool_client_cgi_t *fcgi)
{
    int status = take_held(fcgi);

    return status == GO_ON ? pass_on(fcgi) : status;
}

/* The same over scgi and uwsgi. What has come is held until the buffer is full or
 * the app pauses. If the end comes before, everything is passed on at once.
 * @return GO_ON, or what the handler is to return */
static int receive_bytes(apppool_client_cgi_t *fcgi)
{
    apr_size_t room;
    int status = GO_ON;
    ssize_t n;

    while (status == GO_ON) {
        room = APPPOOL_FCGI_BUFFER - fcgi->held;
        n = apppool_fcgi_wait_receive(fcgi);
        /* It was less than we asked for, so there is no more. */
        if (fcgi->is_complete && n > 0 && (apr_size_t)n < room) {
            fcgi->heard = 1;
            fcgi->held += (apr_size_t)n;
            n = 0;
        }
        if (n > 0) {
            fcgi->heard = 1;
            fcgi->held += (apr_size_t)n;
            if (fcgi->held == APPPOOL_FCGI_BUFFER)
                status = pass_held(fcgi);
        }
        else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
            int error = n == 0 ? 0 : errno;

            status = take_held(fcgi);
            if (status == GO_ON)
                status = apppool_fcgi_end_connection(fcgi, error);
        }
        else if (errno == EAGAIN)
            break;
    }
    return status;
}

/* ---- both ---- */

/* Until when may the app be silent? It may while the request waits for the
 * client.
 * @return 0: for ever */
static int64_t limit_of(const apppool_client_cgi_t *fcgi)
{
    return fcgi->first_byte.timeout < 0 || fcgi->sending.waits
               ? 0
               : apl_now() + fcgi->first_byte.timeout;
}

/* May there be more of the body that was not read from the client? */
static int has_more(const apppool_client_cgi_t *fcgi)
{
    return fcgi->sending.kind == APPPOOL_FCGI_STREAMED &&
           !fcgi->sending.body.ended && !fcgi->sending.out.hung_up;
}

/* A client that still sends may not read yet. Then a flush of more bytes than
 * its socket holds would wait for ever. */
static int may_flush(const apppool_client_cgi_t *fcgi)
{
    return !has_more(fcgi) || fcgi->response.parts.size <= FLUSHED;
}

/* A FIN behind a body that is not read yet may be only the end of the request. */
static int client_has_left(apppool_client_cgi_t *fcgi)
{
    return !has_more(fcgi) &&
           apppool_stream_client_has_left(fcgi->first_byte.client);
}

/* How long may it take until the next part or the end of the response comes?
 * @return ms; 0: it is not known */
static int ends_soon(const apppool_client_cgi_t *fcgi)
{
    if (fcgi->parser.stdout_ended)
        return SOON;
    return fcgi->held > 0 && !fcgi->has_waited ? AT_ONCE : 0;
}

/* Pass on what the app has sent before. Then wait until the app or the client
 * does something.
 * @return GO_ON, or what the handler is to return */
static int wait_for_both(apppool_client_cgi_t *fcgi)
{
    struct pollfd fds[] = {{fcgi->connection.fd, POLLIN, 0}, {-1, POLLIN, 0}};
    int soon = ends_soon(fcgi), status;
    int64_t limit = limit_of(fcgi);
    int slice = SLICE;

    if (!apppool_app_output_is_empty(&fcgi->sending.out))
        fds[0].events |= POLLOUT;
    if (fcgi->sending.waits)
        fds[1].fd = apppool_client_socket(fcgi->r->connection);
    if (fcgi->sending.waits && fds[1].fd < 0)
        slice = NAP;
    fcgi->has_waited = fcgi->held > 0;
    if (soon > 0 && apppool_fcgi_wait_poll(fcgi, fds, soon))
        return GO_ON;
    if (fcgi->held > 0) {
        status = pass_held(fcgi);
        if (status != GO_ON)
            return status;
    }
    if (may_flush(fcgi)) {
        status = apppool_cgi_response_flush(&fcgi->response, fcgi->r);
        if (status != OK)
            return status;
    }
    while (!apppool_fcgi_wait(fcgi, fds, slice)) {
        if (!fcgi->heard && apppool_first_byte_is_hopeless(&fcgi->first_byte))
            return apppool_fcgi_end_silent(fcgi, HTTP_BAD_GATEWAY);
        if (client_has_left(fcgi))
            return apppool_fcgi_end_early(fcgi, HTTP_BAD_GATEWAY);
        if (limit > 0 && apl_now() >= limit)
            return apppool_fcgi_end_silent(fcgi, HTTP_GATEWAY_TIME_OUT);
        if (fcgi->sending.waits)
            break;
    }
    return GO_ON;
}

int apppool_client_cgi_run(apppool_client_cgi_t *fcgi,
                           const apppool_first_byte_t *first_byte)
{
    int status;

    fcgi->first_byte = *first_byte;
    fcgi->began = apl_now();
    fcgi->buffer = apr_palloc(fcgi->r->pool, APPPOOL_FCGI_BUFFER);
    apppool_fcgi_sending_begin(&fcgi->sending, fcgi->r, fcgi->parser.request,
                               fcgi->connection.keeps);
    for (;;) {
        status = send_all(fcgi);
        if (status == GO_ON)
            status = wait_for_both(fcgi);
        if (status == GO_ON)
            status =
                fcgi->is_bare ? receive_bytes(fcgi) : receive_records(fcgi);
        if (status != GO_ON)
            break;
    }
    apppool_fcgi_stderr_end(&fcgi->err, fcgi->r);
    return status;
}
