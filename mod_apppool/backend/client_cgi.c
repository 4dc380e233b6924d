/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/client_cgi.h"

#include <errno.h>
#include <http_log.h>
#include <http_protocol.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "mod_apppool/backend/app_connection.h"
#include "mod_apppool/backend/cgi_environment.h"
#include "mod_apppool/backend/cgi_response.h"
#include "mod_apppool/backend/client_socket.h"
#include "mod_apppool/backend/fcgi_format.h"
#include "mod_apppool/backend/fcgi_parser.h"
#include "mod_apppool/backend/fcgi_request.h"
#include "shm/lock/alive.h"
#include "shm/lock/lock_token.h"
#include "shm/slots/connection_room.h"
#include "shm/verbs/app_stderr.h"

APLOG_USE_MODULE(apppool);

#define FLUSHED      (16 * 1024) /* bytes of a response to an unread request */
#define SLICE        250         /* ms between two checks of the pool */
#define SOON         20 /* ms from the end of the output to END_REQUEST */
#define AT_ONCE      5  /* ms between two parts of a response without records */
#define NAP          10 /* ms between two looks for more of a body */
#define BUFFER       (32 * 1024) /* bytes that are read at once */
#define STDERR_LINE  2000        /* bytes */
#define STDERR_LINES 200 /* of a request, so that it cannot fill the disk */

/* There is more to do. This value is neither OK nor a status of HTTP. */
#define GO_ON        (-1000)

#define DYING        250000 /* us from SIGKILL to the end of the connections */

#define SAY(cgi, rv, ...)                                                      \
    ap_log_rerror(APLOG_MARK, APLOG_ERR, rv, (cgi)->base.r,                    \
                  "apppool: " __VA_ARGS__)

/* What a FastCGI app sends as STDERR, on its way to the log. */
typedef struct {
    apl_pool_t *pool;
    uint64_t id;     /* of the process */
    int has_log;     /* the app has an AppLog */
    char *line;      /* that is not complete; NULL at first */
    apr_size_t size; /* of it */
    unsigned lines;  /* that the app has sent */
    char *batch;     /* lines for the spawner; NULL at first */
    apr_size_t used; /* bytes of it */
} stderr_t;

typedef struct {
    apppool_app_client_t base;
    int is_bare;  /* scgi, uwsgi: there are no records */
    int is_local; /* over a Unix socket */
    apppool_app_connection_t connection;
    apppool_first_byte_t first_byte;
    int64_t began; /* us of apl_now() */
    /* To the app. */
    apppool_sending_t sending;
    /* From the app. */
    char *buffer;
    apr_size_t held;    /* bytes in it, not yet looked at (bare) */
    int has_received;   /* the wait for the app has called recv() */
    ssize_t received;   /* what recv() returned then, */
    int received_error; /* and errno */
    int is_complete;    /* the app has sent all, and closed (bare) */
    int has_waited;     /* for more of them */
    apppool_fcgi_parser_t parser;
    apppool_cgi_response_t response;
    stderr_t err;
    int heard;  /* at least one byte */
    int begun;  /* a record of this request */
    int stray;  /* a rest of another request came */
    int reset;  /* the connection was reset */
    int closed; /* by the app */
} cgi_t;

/* ---- begin and end ---- */

/* One more than that of the last request: the process has ended a session
 * since. */
static unsigned next_id(const apppool_endpoint_t *endpoint,
                        const apppool_parked_t *shared)
{
    uint64_t ended =
        apl_connection_room_ended(shared->state.pool, endpoint->id);

    return FCGI_ID_NEXT + (unsigned)(ended % FCGI_IDS);
}

static apr_status_t open_connection(apppool_app_client_t *client,
                                    const apppool_endpoint_t *endpoint,
                                    apppool_parked_t *parked, int64_t deadline)
{
    cgi_t *cgi = (cgi_t *)client;
    apr_status_t rv = apppool_app_connection_open(
        &cgi->connection, endpoint, parked, deadline, client->r->pool);

    client->socket = cgi->connection.fd;
    cgi->is_local = endpoint->wire.listen != APL_LISTEN_TCP;
    cgi->parser.request =
        cgi->connection.reused ? next_id(endpoint, parked) : FCGI_ID;
    return rv;
}

static int has_closed(const apppool_app_client_t *client)
{
    return ((const cgi_t *)client)->closed;
}

/* It has sent END_REQUEST, or has closed the connection. */
static int has_ended(const apppool_app_client_t *client)
{
    const cgi_t *cgi = (const cgi_t *)client;

    return cgi->parser.ended || cgi->closed;
}

/* ---- how it went ---- */

/* Had the connection carried another request, and has the app taken no more? */
static int is_lost(const cgi_t *cgi)
{
    return cgi->connection.reused &&
           (cgi->stray ||
            (!cgi->heard && (cgi->closed || cgi->sending.hung_up)));
}

/* May the next request use the connection? It may if this request had no body,
 * all of it was sent, and nothing has come behind its response. */
static int is_clean(const cgi_t *cgi)
{
    return apppool_fcgi_parser_is_clean(&cgi->parser) &&
           cgi->parser.status == FCGI_REQUEST_COMPLETE &&
           cgi->sending.kind == APPPOOL_SENDING_NO_BODY &&
           !cgi->sending.hung_up && apppool_sending_is_over(&cgi->sending) &&
           cgi->response.has_header;
}

static void close_connection(apppool_app_client_t *client)
{
    cgi_t *cgi = (cgi_t *)client;

    apppool_app_connection_end(&cgi->connection,
                               is_clean(cgi)  ? APPPOOL_CONNECTION_CLEAN
                               : is_lost(cgi) ? APPPOOL_CONNECTION_FAILED
                                              : APPPOOL_CONNECTION_CUT);
}

/* An app that speaks FastCGI may reset the connection after it has read the
 * request, for example to refuse it. So the request is repeated only if the
 * process was killed, or if the connection had carried another request. A
 * killed process resets its connections soon. */
static int may_repeat(const cgi_t *cgi)
{
    int has_body = cgi->sending.kind != APPPOOL_SENDING_NO_BODY;

    if (!apppool_app_client_may_repeat(cgi->base.r, has_body))
        return 0;
    if (cgi->is_bare || cgi->stray)
        return 1;
    return apl_now() - cgi->began < DYING &&
           (cgi->connection.reused ||
            apl_alive_ending(cgi->first_byte.ref->pid));
}

static apppool_outcome_t outcome(const apppool_app_client_t *client)
{
    const cgi_t *cgi = (const cgi_t *)client;
    int was_reset = (cgi->reset || cgi->sending.hung_up) && !cgi->heard;

    if (cgi->parser.ended && cgi->parser.status == FCGI_OVERLOADED)
        return APPPOOL_OVERLOADED;
    if (cgi->response.is_elsewhere)
        return APPPOOL_ELSEWHERE;
    if (!cgi->sending.sent && !cgi->heard)
        return APPPOOL_UNSENT;
    return (was_reset || is_lost(cgi)) && may_repeat(cgi) ? APPPOOL_BROKEN
                                                          : APPPOOL_HEARD;
}

/* ---- the ways in which it ends ----
 *
 * Each returns what the handler is to return. */

/* It is complete. A slow client may take its time, and the app waits for the
 * next request, or for the end of the connection. */
static int end_response(cgi_t *cgi)
{
    /* Without records the app has closed it: nobody waits for us. */
    if (!cgi->is_bare)
        close_connection(&cgi->base);
    return apppool_cgi_response_end(&cgi->response, cgi->base.r);
}

/* No more will come, and there was no END_REQUEST.
 * @param status if no part of the response was passed on */
static int end_early(cgi_t *cgi, int status)
{
    if (cgi->parser.stdout_ended)
        return end_response(cgi);
    return apppool_response_parts_break(&cgi->response.parts, cgi->base.r,
                                        status);
}

/* What comes is not FastCGI. */
static int end_wrong(cgi_t *cgi)
{
    SAY(cgi, 0, "%s sends wrong FastCGI: %s %u", cgi->base.label,
        cgi->parser.wrong, cgi->parser.wrong_number);
    return apppool_response_parts_break(&cgi->response.parts, cgi->base.r,
                                        HTTP_BAD_GATEWAY);
}

/* Wrong FastCGI, before anything of this response: it belongs to an earlier
 * one. */
static int end_stray(cgi_t *cgi)
{
    cgi->stray = 1;
    ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, cgi->base.r,
                  "apppool: %s has sent something over its shared "
                  "connection that belongs to no request: %s %u",
                  cgi->base.label, cgi->parser.wrong, cgi->parser.wrong_number);
    return HTTP_BAD_GATEWAY;
}

/* The app has not served the request. */
static int end_refused(cgi_t *cgi)
{
    unsigned status = cgi->parser.status;

    SAY(cgi, 0, "%s refuses the request: %s (FastCGI's status %u)",
        cgi->base.label, apppool_fcgi_parser_refusal(&cgi->parser), status);
    return apppool_response_parts_break(&cgi->response.parts, cgi->base.r,
                                        status == FCGI_OVERLOADED
                                            ? HTTP_SERVICE_UNAVAILABLE
                                            : HTTP_BAD_GATEWAY);
}

static int end_request(cgi_t *cgi)
{
    if (cgi->parser.status != FCGI_REQUEST_COMPLETE)
        return end_refused(cgi);
    if (cgi->parser.app_status != 0)
        ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, cgi->base.r,
                      "apppool: %s has ended the request with status %u",
                      cgi->base.label, (unsigned)cgi->parser.app_status);
    return end_response(cgi);
}

/* Without records the response ends with the connection. The connection is
 * reset if the app has not read the body. If we were sending it, the reset was
 * the result of that. */
static int ends_response(const cgi_t *cgi, int error)
{
    int is_reset = error == ECONNRESET || cgi->sending.hung_up;

    if (!cgi->is_bare || !cgi->response.has_header)
        return 0;
    if (error != 0 &&
        (error != ECONNRESET || cgi->sending.kind == APPPOOL_SENDING_NO_BODY))
        return 0;
    return !is_reset || apppool_response_parts_outlive_reset(
                            &cgi->response.parts, cgi->base.r, !cgi->is_local);
}

/* The app has closed the connection, or it is broken. @param error 0: closed */
static int end_connection(cgi_t *cgi, int error)
{
    if (apppool_first_byte_is_stopped(&cgi->first_byte))
        return end_early(cgi, HTTP_BAD_GATEWAY);
    cgi->closed = 1;
    cgi->reset |= error == ECONNRESET;
    if (ends_response(cgi, error))
        return end_response(cgi);
    if (cgi->heard && !cgi->parser.stdout_ended &&
        !apppool_first_byte_is_cut_off(&cgi->first_byte))
        SAY(cgi, error,
            "%s has closed the connection before the end of the response",
            cgi->base.label);
    return end_early(cgi, HTTP_BAD_GATEWAY);
}

/* The app was silent for too long, or it is being killed.
 * @param status as in end_early() */
static int end_silent(cgi_t *cgi, int status)
{
    if (cgi->response.parts.passed && !cgi->parser.stdout_ended)
        SAY(cgi, 0, "%s was silent for too long within its response",
            cgi->base.label);
    return end_early(cgi, status);
}

/* ---- STDERR ----
 *
 * What a FastCGI app sends there becomes lines that look like those that an app
 * prints. PHP's errors come this way. With AppLog, the spawner gets the lines,
 * and writes them there. Without AppLog, they are lines of httpd's error log,
 * with the client of the request, and the spawner gets them for apppoolctl
 * logs. If the spawner does not take them in time, they are lines of the error
 * log in any case. Text that is no complete line when the child is killed is
 * lost. */

static void log_batch(const cgi_t *cgi)
{
    const stderr_t *err = &cgi->err;
    const char *line = err->batch, *end = line + err->used, *next;

    for (; line < end; line = next + 1) {
        next = memchr(line, '\n', (apr_size_t)(end - line));
        SAY(cgi, 0, "%s> %.*s", cgi->base.label, (int)(next - line), line);
    }
}

static void give_batch(cgi_t *cgi)
{
    stderr_t *err = &cgi->err;

    if (err->used > 0 &&
        apl_app_stderr_put(err->pool, err->id, !err->has_log, err->batch,
                           err->used, apl_now()) != APR_SUCCESS &&
        err->has_log)
        log_batch(cgi);
    err->used = 0;
}

static void add_line(cgi_t *cgi, apr_size_t n)
{
    stderr_t *err = &cgi->err;

    if (!err->has_log)
        SAY(cgi, 0, "%s> %.*s", cgi->base.label, (int)n, err->line);
    if (!err->batch)
        err->batch = apr_palloc(cgi->base.r->pool, APL_STDERR_TEXT);
    if (err->used + n + 1 > APL_STDERR_TEXT)
        give_batch(cgi);
    memcpy(err->batch + err->used, err->line, n);
    err->batch[err->used + n] = '\n';
    err->used += n + 1;
}

static void end_line(cgi_t *cgi)
{
    stderr_t *err = &cgi->err;
    apr_size_t n = err->size;

    if (n > 0 && err->line[n - 1] == '\r')
        n--;
    err->size = 0;
    if (n == 0)
        return;
    if (err->lines++ < STDERR_LINES)
        add_line(cgi, n);
}

static void add_stderr(cgi_t *cgi, const char *bytes, apr_size_t n)
{
    stderr_t *err = &cgi->err;
    apr_size_t i;

    if (!err->line)
        err->line = apr_palloc(cgi->base.r->pool, STDERR_LINE);
    for (i = 0; i < n; i++) {
        if (bytes[i] == '\n') {
            end_line(cgi);
            continue;
        }
        if (err->size == STDERR_LINE)
            end_line(cgi);
        err->line[err->size++] = bytes[i];
    }
    give_batch(cgi);
}

/* No more comes. */
static void end_stderr(cgi_t *cgi)
{
    stderr_t *err = &cgi->err;

    if (err->size > 0)
        end_line(cgi);
    give_batch(cgi);
    if (err->lines > STDERR_LINES)
        SAY(cgi, 0, "%s: %u more lines of this request are not logged",
            cgi->base.label, err->lines - STDERR_LINES);
}

/* ---- to the app ---- */

static void begin_sending(cgi_t *cgi)
{
    request_rec *r = cgi->base.r;
    apppool_fcgi_begin_t begin = {.request = cgi->parser.request,
                                  .keeps = cgi->connection.keeps,
                                  .ends = cgi->sending.kind ==
                                          APPPOOL_SENDING_NO_BODY};
    const unsigned char *bytes;
    apr_size_t n;

    if (cgi->is_bare)
        return;
    cgi->sending.request = begin.request;
    apppool_cgi_environment_add(r);
    bytes = apppool_fcgi_request_make(r->pool, r->subprocess_env, &begin, &n);
    apppool_sending_add(&cgi->sending, bytes, n);
}

/* Send all that can be sent without waiting.
 * @return GO_ON, or what the handler is to return */
static int send_all(cgi_t *cgi)
{
    int status = apppool_sending_go_on(&cgi->sending, cgi->base.r,
                                       cgi->base.label, cgi->connection.fd);

    return status == OK ? GO_ON
                        : apppool_response_parts_break(&cgi->response.parts,
                                                       cgi->base.r, status);
}

/* ---- the wait ---- */

static int poll_both(cgi_t *cgi, struct pollfd *fds, int ms)
{
    if (poll(fds, 2, ms) <= 0)
        return 0;
    cgi->is_complete = cgi->is_bare && cgi->is_local &&
                       (fds[0].revents & (POLLHUP | POLLERR)) == POLLHUP;
    return 1;
}

/* If only the app is waited for, recv() can do that, too. After its time it is
 * for poll() to wait. */
static int wait_for_any(cgi_t *cgi, struct pollfd *fds, int ms)
{
    if (!cgi->connection.waits || fds[0].events != POLLIN || cgi->sending.waits)
        return poll_both(cgi, fds, ms);
    cgi->received = recv(cgi->connection.fd, cgi->buffer + cgi->held,
                         BUFFER - cgi->held, 0);
    cgi->received_error = errno;
    cgi->has_received =
        cgi->received >= 0 || (errno != EAGAIN && errno != EINTR);
    cgi->connection.waits = cgi->has_received;
    return cgi->has_received;
}

static ssize_t receive(cgi_t *cgi)
{
    if (!cgi->has_received)
        return recv(cgi->connection.fd, cgi->buffer + cgi->held,
                    BUFFER - cgi->held, MSG_DONTWAIT);
    cgi->has_received = 0;
    errno = cgi->received_error;
    return cgi->received;
}

/* ---- from the app ---- */

/* @return GO_ON, or what the handler is to return */
static int pass_on(cgi_t *cgi)
{
    int status = apppool_response_parts_pass(&cgi->response.parts, cgi->base.r);

    return status == OK ? GO_ON : status;
}

/* Use everything that the buffer holds. @return GO_ON, or what the handler is
 * to return */
static int take(cgi_t *cgi, apr_size_t n)
{
    apppool_fcgi_parser_t *parser = &cgi->parser;
    apppool_fcgi_event_t event;
    int status;

    apppool_fcgi_parser_give(parser, cgi->buffer, n);
    for (;;) {
        event = apppool_fcgi_parser_next(parser);
        cgi->begun |= event != APPPOOL_FCGI_MORE && event != APPPOOL_FCGI_WRONG;
        switch (event) {
        case APPPOOL_FCGI_STDOUT:
            status = apppool_cgi_response_add(
                &cgi->response, cgi->base.r, parser->piece, parser->piece_size);
            if (status != OK)
                return status;
            break;
        case APPPOOL_FCGI_STDERR:
            add_stderr(cgi, parser->piece, parser->piece_size);
            break;
        case APPPOOL_FCGI_STDOUT_END:
            break;
        case APPPOOL_FCGI_END:
            return end_request(cgi);
        case APPPOOL_FCGI_WRONG:
            return cgi->connection.reused && !cgi->begun ? end_stray(cgi)
                                                         : end_wrong(cgi);
        case APPPOOL_FCGI_MORE:
            return pass_on(cgi);
        }
    }
}

/* Over FastCGI: read all that is there.
 * @return GO_ON, or what the handler is to return */
static int receive_records(cgi_t *cgi)
{
    int status = GO_ON;
    ssize_t n;

    while (status == GO_ON) {
        n = receive(cgi);
        if (n > 0) {
            cgi->heard = 1;
            status = take(cgi, (apr_size_t)n);
        }
        else if (n == 0 || (errno != EAGAIN && errno != EINTR))
            status = end_connection(cgi, n == 0 ? 0 : errno);
        else if (errno == EAGAIN)
            break;
    }
    return status;
}

/* Over scgi and uwsgi: look at what is held.
 * @return GO_ON, or what the handler is to return */
static int take_held(cgi_t *cgi)
{
    apr_size_t n = cgi->held;
    int status;

    cgi->held = 0;
    cgi->has_waited = 0;
    status =
        apppool_cgi_response_add(&cgi->response, cgi->base.r, cgi->buffer, n);
    return status == OK ? GO_ON : status;
}

/* Look at what is held, and pass it on. */
static int pass_held(cgi_t *cgi)
{
    int status = take_held(cgi);

    return status == GO_ON ? pass_on(cgi) : status;
}

/* Receive over scgi and uwsgi. What has come is held until the buffer is full
 * or the app pauses. If the end comes before, everything is passed on at once.
 * @return GO_ON, or what the handler is to return */
static int receive_bytes(cgi_t *cgi)
{
    apr_size_t room;
    int status = GO_ON;
    ssize_t n;

    while (status == GO_ON) {
        room = BUFFER - cgi->held;
        n = receive(cgi);
        /* It was less than we asked for, so there is no more. */
        if (cgi->is_complete && n > 0 && (apr_size_t)n < room) {
            cgi->heard = 1;
            cgi->held += (apr_size_t)n;
            n = 0;
        }
        if (n > 0) {
            cgi->heard = 1;
            cgi->held += (apr_size_t)n;
            if (cgi->held == BUFFER)
                status = pass_held(cgi);
        }
        else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
            int error = n == 0 ? 0 : errno;

            status = take_held(cgi);
            if (status == GO_ON)
                status = end_connection(cgi, error);
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
static int64_t limit_of(const cgi_t *cgi)
{
    return cgi->first_byte.timeout < 0 || cgi->sending.waits
               ? 0
               : apl_now() + cgi->first_byte.timeout;
}

/* A client that still sends may not read yet. Then a flush of more bytes than
 * its socket holds would wait for ever. */
static int may_flush(const cgi_t *cgi)
{
    return !apppool_sending_has_more(&cgi->sending) ||
           cgi->response.parts.size <= FLUSHED;
}

/* A FIN behind a body that is not read yet may be only the end of the
 * request. */
static int client_has_left(cgi_t *cgi)
{
    return !apppool_sending_has_more(&cgi->sending) &&
           apppool_stream_client_has_left(cgi->first_byte.client);
}

/* How long may it take until the next part or the end of the response comes?
 * @return ms; 0: it is not known */
static int ends_soon(const cgi_t *cgi)
{
    if (cgi->parser.stdout_ended)
        return SOON;
    return cgi->held > 0 && !cgi->has_waited ? AT_ONCE : 0;
}

/* Pass on what the app has sent before. Then wait until the app or the client
 * does something.
 * @return GO_ON, or what the handler is to return */
static int wait_for_both(cgi_t *cgi)
{
    struct pollfd fds[] = {{cgi->connection.fd, POLLIN, 0}, {-1, POLLIN, 0}};
    int soon = ends_soon(cgi), status;
    int64_t limit = limit_of(cgi);
    int slice = SLICE;

    if (apppool_sending_is_held(&cgi->sending))
        fds[0].events |= POLLOUT;
    if (cgi->sending.waits)
        fds[1].fd = apppool_client_socket(cgi->base.r->connection);
    if (cgi->sending.waits && fds[1].fd < 0)
        slice = NAP;
    cgi->has_waited = cgi->held > 0;
    if (soon > 0 && poll_both(cgi, fds, soon))
        return GO_ON;
    if (cgi->held > 0) {
        status = pass_held(cgi);
        if (status != GO_ON)
            return status;
    }
    if (may_flush(cgi)) {
        status = apppool_cgi_response_flush(&cgi->response, cgi->base.r);
        if (status != OK)
            return status;
    }
    while (!wait_for_any(cgi, fds, slice)) {
        if (!cgi->heard && apppool_first_byte_is_hopeless(&cgi->first_byte))
            return end_silent(cgi, HTTP_BAD_GATEWAY);
        if (client_has_left(cgi))
            return end_early(cgi, HTTP_BAD_GATEWAY);
        if (limit > 0 && apl_now() >= limit)
            return end_silent(cgi, HTTP_GATEWAY_TIME_OUT);
        if (cgi->sending.waits)
            break;
    }
    return GO_ON;
}

static int run(apppool_app_client_t *client,
               const apppool_first_byte_t *first_byte)
{
    cgi_t *cgi = (cgi_t *)client;
    int status;

    cgi->first_byte = *first_byte;
    cgi->began = apl_now();
    cgi->buffer = apr_palloc(client->r->pool, BUFFER);
    begin_sending(cgi);
    for (;;) {
        status = send_all(cgi);
        if (status == GO_ON)
            status = wait_for_both(cgi);
        if (status == GO_ON)
            status = cgi->is_bare ? receive_bytes(cgi) : receive_records(cgi);
        if (status != GO_ON)
            break;
    }
    end_stderr(cgi);
    return status;
}

apppool_app_client_t *apppool_client_cgi_make(request_rec *r, const char *label,
                                              apppool_sending_kind_t kind,
                                              apppool_bare_packet_t *packet)
{
    static const apppool_app_client_calls_t calls = {
        open_connection, run, NULL, outcome, has_closed, has_ended,
        close_connection};
    cgi_t *cgi = apr_pcalloc(r->pool, sizeof *cgi);

    cgi->base = (apppool_app_client_t){&calls, r, label, -1, packet == NULL};
    cgi->response.label = label;
    cgi->sending.kind = kind;
    cgi->is_bare = cgi->response.is_bare = packet != NULL;
    cgi->response.is_uwsgi = packet && packet->is_uwsgi;
    cgi->connection.fd = -1;
    cgi->sending.framing =
        packet ? APPPOOL_SENDING_PLAIN : APPPOOL_SENDING_RECORDS;
    if (packet) {
        apppool_sending_add(&cgi->sending, packet->bytes, packet->size);
        cgi->connection.sock = packet->sock;
        packet->sock = NULL;
    }
    return &cgi->base;
}

void apppool_client_cgi_log_to(apppool_app_client_t *client, apl_pool_t *pool,
                               uint64_t id, int has_log)
{
    stderr_t *err = &((cgi_t *)client)->err;

    err->pool = pool;
    err->id = id;
    err->has_log = has_log;
}
