/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/client_http.h"

#include <errno.h>
#include <http_log.h>
#include <http_protocol.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "mod_apppool/backend/app_connection.h"
#include "mod_apppool/backend/client_socket.h"
#include "mod_apppool/backend/http_parser.h"
#include "mod_apppool/backend/http_response.h"
#include "mod_apppool/backend/response_parts.h"
#include "mod_apppool/backend/tunnel.h"
#include "shm/lock/lock_token.h"

APLOG_USE_MODULE(apppool);

#define SLICE   250  /* ms between two checks of the pool */
#define AT_ONCE 5000 /* us after the first pause, in which more comes at once */
#define INTERIM 10   /* interim responses, at most */
#define FLUSHED (16 * 1024) /* bytes of a response to an unread request */
#define NAP     10          /* ms between two looks for more of a body */
#define TURNS   8 /* reads of an event stream, until others come first */

/* There is more to do. This value is neither OK nor a status of HTTP. */
#define GO_ON   (-1000)

#define SAY(http, rv, ...)                                                     \
    ap_log_rerror(APLOG_MARK, APLOG_ERR, rv, (http)->base.r,                   \
                  "apppool: " __VA_ARGS__)

typedef struct {
    apppool_app_client_t base;
    const apppool_http_request_t *request;
    apppool_app_connection_t connection;
    apppool_sending_t sending;
    apppool_first_byte_t first_byte;
    apppool_http_parser_t parser;
    apppool_response_parts_t parts;
    int has_header;
    int is_full;      /* so more may be there */
    int64_t at_once;  /* us of apl_now(): until then more may come; or 0 */
    int heard;        /* at least one byte of the response */
    int was_read;     /* the app has read the request */
    int reset;        /* the connection was reset, or the app has not read */
    int closes;       /* the app says that it closes the connection */
    int is_tcp;       /* the connection */
    int closed;       /* by the app */
    int has_response; /* all of it */
    int is_tunnel;    /* the app has changed the protocol */
    int keeps_worker; /* it was tried: the connection does not leave it */
    int is_slow;      /* the client: it has not taken all that there is */
    apppool_http_event_t held; /* what the pump has left to a worker; or MORE */
    int error;                 /* of recv(), the same; or 0 */
} http_t;

/* ---- begin and end ---- */

static apr_status_t open_connection(apppool_app_client_t *client,
                                    const apppool_endpoint_t *endpoint,
                                    apppool_parked_t *parked, int64_t deadline)
{
    http_t *http = (http_t *)client;
    apr_status_t rv = apppool_app_connection_open(
        &http->connection, endpoint, parked, deadline, client->r->pool);

    client->socket = http->connection.fd;
    http->is_tcp = endpoint->wire.listen == APL_LISTEN_TCP;
    return rv;
}

/* Is there a part of the request that the app has not read? Then the bytes that
 * it sends belong to an earlier request. */
static int is_unread(const http_t *http)
{
    int bytes = 0;

    return ioctl(http->connection.fd, SIOCOUTQ, &bytes) == 0 && bytes > 0;
}

static int has_body(const http_t *http)
{
    return http->sending.kind != APPPOOL_SENDING_NO_BODY;
}

static int is_clean(const http_t *http)
{
    return http->connection.fd >= 0 && http->has_response &&
           !http->sending.hung_up && !http->closes && !http->closed &&
           !http->request->closes &&
           apppool_http_parser_is_clean(&http->parser) &&
           (http->was_read || !is_unread(http));
}

static void close_connection(apppool_app_client_t *client)
{
    http_t *http = (http_t *)client;

    apppool_app_connection_end(&http->connection,
                               http->connection.keeps && is_clean(http)
                                   ? APPPOOL_CONNECTION_CLEAN
                                   : APPPOOL_CONNECTION_CUT);
}

static int has_closed(const apppool_app_client_t *client)
{
    return ((const http_t *)client)->closed;
}

static int has_ended(const apppool_app_client_t *client)
{
    const http_t *http = (const http_t *)client;

    return http->closed || http->has_response;
}

static apppool_outcome_t outcome(const apppool_app_client_t *client)
{
    const http_t *http = (const http_t *)client;

    if (!http->sending.sent && !http->heard)
        return APPPOOL_UNSENT;
    return !http->heard && (http->sending.hung_up || http->reset) &&
                   apppool_app_client_may_repeat(client->r, has_body(http))
               ? APPPOOL_BROKEN
               : APPPOOL_HEARD;
}

/* @param status what the handler is to return, if nothing was passed on */
static int end_early(http_t *http, int status)
{
    return apppool_response_parts_break(&http->parts, http->base.r, status);
}

static int end_wrong(http_t *http, const char *what)
{
    SAY(http, 0, "%s sends wrong HTTP: %s", http->base.label, what);
    return end_early(http, HTTP_BAD_GATEWAY);
}

static int end_silent(http_t *http, int status)
{
    if (http->heard)
        SAY(http, 0, "%s was silent for too long within its response",
            http->base.label);
    return end_early(http, status);
}

/* The process is free before the client has the response. */
static int end_response(http_t *http)
{
    http->has_response = 1;
    apppool_http_response_trailer(http->base.r, &http->parser);
    close_connection(&http->base);
    return apppool_response_parts_end(&http->parts, http->base.r);
}

/* Has this child cut the connection, which is stopped? Or has another session
 * taken it away, after damage? Then that session may have cut it. Its end does
 * not say that the app has ended the response or the request. But a reset comes
 * from the app alone, and a process that was killed may have got a successor
 * before this thread looks. */
static int is_lost(const http_t *http, int error)
{
    const apppool_parked_t *shared = http->connection.shared;

    if (apppool_first_byte_is_stopped(&http->first_byte))
        return 1;
    if (!http->connection.reused || !shared ||
        apl_connection_is_held(&shared->state))
        return 0;
    return http->heard || error != ECONNRESET ||
           !apl_connection_is_gone(&shared->state);
}

/* A response without a length ends with the connection. The connection is reset
 * if the app has not read the body. If we were sending it, the reset was the
 * result of that. */
static int ends_response(http_t *http, int error)
{
    int is_reset = error == ECONNRESET || http->sending.hung_up;

    if (error != 0 && (error != ECONNRESET || !has_body(http)))
        return 0;
    return (!is_reset || apppool_response_parts_outlive_reset(
                             &http->parts, http->base.r, http->is_tcp)) &&
           apppool_http_parser_end(&http->parser);
}

/* @param error 0: the app has closed the connection */
static int end_connection(http_t *http, int error)
{
    if (is_lost(http, error))
        return end_early(http, HTTP_BAD_GATEWAY);
    http->closed = 1;
    http->reset |= error == ECONNRESET;
    if (ends_response(http, error))
        return end_response(http);
    if (http->heard && !apppool_first_byte_is_cut_off(&http->first_byte))
        SAY(http, error,
            "%s has closed the connection before the end of the response",
            http->base.label);
    return end_early(http, HTTP_BAD_GATEWAY);
}

/* ---- from the app ---- */

static void take_header(http_t *http)
{
    request_rec *r = http->base.r;
    const char *asks;

    apppool_http_response_take(r, &http->parser, &http->closes);
    http->has_header = 1;
    apppool_response_parts_override(&http->parts, r);
    asks = http->parts.overridden == HTTP_UNAUTHORIZED
               ? apr_table_get(r->headers_out, "WWW-Authenticate")
               : NULL;
    if (asks)
        apr_table_setn(r->err_headers_out, "WWW-Authenticate", asks);
}

/* As mod_proxy_http does it. The rest of what has come belongs to the new
 * protocol. @return SUSPENDED, or what the handler is to return */
static int switch_protocols(http_t *http)
{
    apppool_http_parser_t *parser = &http->parser;
    const char *upgrade = apr_table_get(parser->fields, "Upgrade");
    request_rec *r = http->base.r;

    if (!upgrade || ap_cstr_casecmp(upgrade, http->request->upgrade))
        return end_wrong(http, "it changes to another protocol than the client "
                               "has asked for");
    http->is_tunnel = 1;
    apppool_http_response_take(r, parser, &http->closes);
    apr_table_setn(r->headers_out, "Connection", "Upgrade");
    apr_table_setn(r->headers_out, "Upgrade", upgrade);
    ap_send_interim_response(r, 1);
    r->connection->keepalive = AP_CONN_CLOSE;
    parser->size = 0;
    apppool_http_parser_next(parser);
    return apppool_tunnel_begin(r, http->connection.fd, &http->first_byte,
                                parser->piece, parser->size)
               ? SUSPENDED
               : DONE;
}

static int take_head(http_t *http)
{
    if (http->parser.status == HTTP_SWITCHING_PROTOCOLS)
        return switch_protocols(http);
    take_header(http);
    return GO_ON;
}

static apppool_http_event_t next_event(http_t *http)
{
    apppool_http_event_t held = http->held;

    http->held = APPPOOL_HTTP_MORE;
    return held != APPPOOL_HTTP_MORE ? held
                                     : apppool_http_parser_next(&http->parser);
}

/* Use everything that has come. @return GO_ON, or what the handler is to
 * return */
static int take(http_t *http)
{
    apppool_http_parser_t *parser = &http->parser;
    int status;

    for (;;)
        switch (next_event(http)) {
        case APPPOOL_HTTP_INTERIM:
            if (parser->heads > INTERIM)
                return end_wrong(http, "there are too many interim responses");
            apppool_http_response_interim(http->base.r, parser);
            break;
        case APPPOOL_HTTP_HEAD:
            status = take_head(http);
            if (status != GO_ON)
                return status;
            break;
        case APPPOOL_HTTP_BODY:
            apppool_response_parts_add(&http->parts, http->base.r,
                                       parser->piece, parser->size);
            break;
        case APPPOOL_HTTP_END:
            return end_response(http);
        case APPPOOL_HTTP_WRONG:
            return end_wrong(http, parser->wrong);
        default:
            status = apppool_response_parts_pass(&http->parts, http->base.r);
            return status == OK ? GO_ON : status;
        }
}

/* Read what is there.
 * @param flags MSG_DONTWAIT, or 0: wait, if the connection waits
 * @param found 0: nothing was there
 * @return GO_ON, or what the handler is to return */
static int receive(http_t *http, int flags, int *found)
{
    apr_size_t room;
    char *at = apppool_http_parser_room(&http->parser, &room);
    ssize_t n;

    errno = http->error;
    n = errno ? -1 : recv(http->connection.fd, at, room, flags);
    http->error = 0;
    *found = n >= 0 || (errno != EAGAIN && errno != EINTR);
    if (!*found)
        return GO_ON;
    if (n <= 0)
        return end_connection(http, n == 0 ? 0 : errno);
    if (!http->heard && http->connection.reused && is_unread(http)) {
        http->reset = 1;
        return HTTP_BAD_GATEWAY;
    }
    http->heard = 1;
    http->was_read |= http->connection.reused;
    http->is_full = (apr_size_t)n == room;
    apppool_http_parser_fill(&http->parser, (apr_size_t)n);
    return take(http);
}

/* Wait until the app does something. @return 0: it has not */
static int poll_app(const http_t *http, int ms)
{
    struct pollfd app = {http->connection.fd, POLLIN, 0};

    return poll(&app, 1, ms) > 0;
}

/* Most apps send the header and the rest one after the other. So the client
 * gets them together, if the rest comes at once.
 * @return GO_ON, or what the handler is to return */
static int flush(http_t *http)
{
    int64_t now, left;
    int status;

    if (!http->has_header)
        return GO_ON;
    now = apl_now();
    if (http->at_once == 0)
        http->at_once = now + AT_ONCE;
    left = http->at_once - now;
    if (left > 0 && poll_app(http, (int)(left / 1000) + 1))
        return GO_ON;
    status = apppool_response_parts_flush(&http->parts, http->base.r);
    return status == OK ? GO_ON : status;
}

/* Nothing comes yet. May it be waited for?
 * @return GO_ON, or what the handler is to return */
static int look_around(http_t *http, int64_t limit)
{
    if (!http->heard && apppool_first_byte_is_hopeless(&http->first_byte))
        return end_silent(http, HTTP_BAD_GATEWAY);
    /* A FIN behind a body that is not read yet may be only its end. */
    if (!apppool_sending_has_more(&http->sending) &&
        apppool_stream_client_has_left(http->first_byte.client))
        return end_early(http, HTTP_BAD_GATEWAY);
    if (http->first_byte.timeout >= 0 && !http->sending.waits &&
        apl_now() >= limit)
        return end_silent(http, HTTP_GATEWAY_TIME_OUT);
    return GO_ON;
}

/* The app pauses: wait, and read what comes.
 * @return GO_ON, or what the handler is to return */
static int wait_and_receive(http_t *http)
{
    int64_t limit = apl_now() + http->first_byte.timeout;
    int found = 0, status = GO_ON;

    do {
        if (http->connection.waits)
            status = receive(http, 0, &found);
        else if (poll_app(http, SLICE))
            status = receive(http, MSG_DONTWAIT, &found);
        if (!found)
            status = look_around(http, limit);
    } while (status == GO_ON && !found);
    return status;
}

/* The process may not even begin to read, because it reads from idle
 * connections.
 * @return GO_ON, or what the handler is to return */
static int wait_for_room(http_t *http)
{
    apr_status_t rv = apppool_first_byte_wait(&http->first_byte);

    if (rv == APR_SUCCESS)
        return GO_ON;
    return end_silent(http, APR_STATUS_IS_TIMEUP(rv) ? HTTP_GATEWAY_TIME_OUT
                                                     : HTTP_BAD_GATEWAY);
}

/* ---- to the app ---- */

/* @return GO_ON, or what the handler is to return */
static int send_all(http_t *http)
{
    int status = apppool_sending_go_on(&http->sending, http->base.r,
                                       http->base.label, http->connection.fd);

    return status == OK ? GO_ON : end_early(http, status);
}

/* A client that still sends may not read yet. Then a flush of more bytes than
 * its socket holds would wait for ever.
 * @return GO_ON, or what the handler is to return */
static int flush_early(http_t *http)
{
    int status = OK;

    if (http->has_header && (!apppool_sending_has_more(&http->sending) ||
                             http->parts.size <= FLUSHED))
        status = apppool_response_parts_flush(&http->parts, http->base.r);
    return status == OK ? GO_ON : status;
}

/* Something is to be sent: wait until the app or the client does something.
 * @param can_read the app has sent something
 * @return GO_ON, or what the handler is to return */
static int wait_for_both(http_t *http, int *can_read)
{
    const apppool_sending_t *sending = &http->sending;
    struct pollfd fds[] = {{http->connection.fd, POLLIN, 0}, {-1, POLLIN, 0}};
    int64_t limit = apl_now() + http->first_byte.timeout;
    int slice = SLICE, status = GO_ON, n;

    if (sending->waits)
        fds[1].fd = apppool_client_socket(http->base.r->connection);
    else {
        fds[0].events |= POLLOUT;
        apppool_first_byte_wait_to_write(&http->first_byte);
    }
    if (sending->waits && fds[1].fd < 0)
        slice = NAP;
    do {
        n = poll(fds, 2, slice);
        if (n <= 0)
            status = look_around(http, limit);
    } while (status == GO_ON && n <= 0 && !sending->waits);
    *can_read = n > 0 && (fds[0].revents & ~POLLOUT) != 0;
    return status;
}

/* An app may respond before it has read everything. So it is no error of the
 * request if it reads no more. @return GO_ON, or what the handler is to
 * return */
static int send_request(http_t *http)
{
    static const char keep[] = "Connection: Keep-Alive\r\n\r\n",
                      close[] = "Connection: close\r\n\r\n",
                      upgrade[] = "Connection: Upgrade\r\n\r\n";
    int keeps = http->connection.keeps && !http->request->closes;
    int status, found;

    apppool_sending_add(&http->sending, http->request->bytes,
                        http->request->size);
    if (http->request->upgrade)
        apppool_sending_add(&http->sending, upgrade, sizeof upgrade - 1);
    else
        apppool_sending_add(&http->sending, keeps ? keep : close,
                            keeps ? sizeof keep - 1 : sizeof close - 1);
    status = send_all(http);
    while (status == GO_ON && !apppool_sending_is_over(&http->sending)) {
        status = flush_early(http);
        if (status == GO_ON)
            status = wait_for_both(http, &found);
        while (status == GO_ON && found)
            status = receive(http, MSG_DONTWAIT, &found);
        if (status == GO_ON)
            status = send_all(http);
    }
    return status;
}

/* ---- without a worker ---- */

/* What ends a response is left to a worker.
 * @return 0: a worker has to go on */
static int take_events(http_t *http)
{
    apppool_response_parts_t *parts = &http->parts;
    apppool_http_parser_t *parser = &http->parser;
    apppool_http_event_t event;

    while ((event = apppool_http_parser_next(parser)) == APPPOOL_HTTP_BODY)
        apppool_response_parts_add(parts, http->base.r, parser->piece,
                                   parser->size);
    http->held = event;
    return apppool_response_parts_pass(parts, http->base.r) == OK &&
           apppool_response_parts_flush(parts, http->base.r) == OK &&
           event == APPPOOL_HTTP_MORE;
}

/* @return 1: something was passed on; 0: nothing is there; -1: a worker has to
 * go on */
static int pump_events(http_t *http)
{
    apr_size_t room;
    char *at = apppool_http_parser_room(&http->parser, &room);
    ssize_t n = recv(http->connection.fd, at, room, MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    http->error = n < 0 ? errno : 0;
    if (n <= 0)
        return -1;
    apppool_http_parser_fill(&http->parser, (apr_size_t)n);
    return take_events(http) ? 1 : -1;
}

static int has_left(http_t *http, apppool_link_t *link)
{
    int is_there = link->client_seen & EPOLLIN;

    link->client_seen &= ~(uint32_t)EPOLLIN;
    if (!(link->client_seen & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) &&
        !(is_there && apppool_stream_client_look(http->first_byte.client)))
        return 0;
    http->base.r->connection->aborted = 1;
    return 1;
}

/* The app is not silent while it waits for a client. How long the client may
 * take is up to httpd's Timeout. @return as apppool_wire_flush() */
static int flush_client(http_t *http, apppool_suspended_t *s)
{
    size_t before = s->wire.pending.begin;
    int flushed = apppool_wire_flush(&s->wire);

    if (http->is_slow || flushed == 0) {
        http->is_slow = flushed == 0;
        s->link->silence = http->is_slow ? http->base.r->server->timeout
                                         : http->first_byte.timeout;
        if (flushed > 0 || s->wire.pending.begin != before)
            s->link->moved = apl_now();
    }
    return flushed;
}

/* The pump's part of an event stream. */
static apppool_step_t step(apppool_suspended_t *s, int stops)
{
    http_t *http = s->ctx;
    int i, moved;

    if (stops || has_left(http, s->link))
        return APPPOOL_STEP_ENDS;
    for (i = 0; i < TURNS; i++) {
        moved = flush_client(http, s);
        if (moved == 0)
            return APPPOOL_STEP_WAITS;
        /* A worker reads what is left, and ends the response. */
        if (s->link->app_seen & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
            moved = -1;
        if (moved > 0)
            moved = pump_events(http);
        if (moved <= 0)
            return moved ? APPPOOL_STEP_ENDS : APPPOOL_STEP_WAITS;
        s->link->moved = apl_now();
    }
    return APPPOOL_STEP_AGAIN;
}

static int may_leave(const http_t *http)
{
    const apppool_stream_client_t *client = http->first_byte.client;

    return !http->keeps_worker && client->has_events && client->may_leave &&
           apppool_sending_is_over(&http->sending);
}

/* The client of an event stream has its header.
 * @return SUSPENDED, or what go_on() is to do */
static int leave_worker(http_t *http)
{
    request_rec *r = http->base.r;
    apppool_suspended_t *s;

    if (!may_leave(http))
        return GO_ON;
    http->keeps_worker = 1;
    if (apppool_response_parts_flush(&http->parts, r) != OK)
        return AP_FILTER_ERROR;
    s = apr_pcalloc(r->connection->pool, sizeof *s);
    s->client = http->first_byte.client->fd;
    s->app = http->connection.fd;
    s->silence = http->first_byte.timeout;
    s->step = step;
    s->ctx = http;
    if (!apppool_suspend(s, r))
        return GO_ON;
    http->first_byte.client->fd = s->wire.fd;
    return SUSPENDED;
}

/* ---- all ---- */

/* @return what the handler is to return */
static int go_on(http_t *http, int status)
{
    int found;

    while (status == GO_ON) {
        found = 0;
        status = leave_worker(http);
        if (status == GO_ON && http->is_full)
            status = receive(http, MSG_DONTWAIT, &found);
        if (status == GO_ON && !found)
            status = flush(http);
        /* Only now is a header known that came without an event. */
        if (status == GO_ON && !found)
            status = leave_worker(http);
        if (status == GO_ON && !found)
            status = wait_and_receive(http);
    }
    return status;
}

static int run(apppool_app_client_t *client,
               const apppool_first_byte_t *first_byte)
{
    http_t *http = (http_t *)client;
    int status;

    http->first_byte = *first_byte;
    http->first_byte.needs_room &= !http->connection.reused;
    status = send_request(http);
    if (status == GO_ON && http->first_byte.needs_room && !http->heard)
        status = wait_for_room(http);
    return go_on(http, status);
}

static int resume(apppool_app_client_t *client, apppool_link_why_t why)
{
    http_t *http = (http_t *)client;
    request_rec *r = client->r;

    if (http->is_tunnel)
        return DONE;
    http->first_byte.client->fd = apppool_client_socket(r->connection);
    r->connection->aborted |= why == APPPOOL_LINK_SILENT && http->is_slow;
    if (apppool_stream_client_has_left(http->first_byte.client) ||
        why == APPPOOL_LINK_STOPPED)
        return end_early(http, HTTP_BAD_GATEWAY);
    if (why == APPPOOL_LINK_SILENT)
        return end_silent(http, HTTP_GATEWAY_TIME_OUT);
    http->is_full = 1;
    return go_on(http, http->held == APPPOOL_HTTP_MORE ? GO_ON : take(http));
}

apppool_app_client_t *
apppool_client_http_make(request_rec *r, const char *label,
                         const apppool_http_request_t *request,
                         apppool_sending_kind_t kind)
{
    static const apppool_app_client_calls_t calls = {
        open_connection, run,       resume,          outcome,
        has_closed,      has_ended, close_connection};
    http_t *http = apr_pcalloc(r->pool, sizeof *http);

    http->base = (apppool_app_client_t){&calls, r, label, -1, 0};
    http->request = request;
    http->connection.fd = -1;
    http->sending.kind = kind;
    http->sending.framing =
        request->is_chunked ? APPPOOL_SENDING_CHUNKED : APPPOOL_SENDING_PLAIN;
    /* r->header_only also holds for the GET of an ErrorDocument after HEAD. */
    apppool_http_parser_begin(&http->parser, r->pool,
                              !strcmp(r->method, "HEAD"));
    http->parser.may_switch = request->upgrade != NULL;
    return &http->base;
}
