/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/tunnel.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <util_filter.h>

#include "mod_apppool/backend/client_socket.h"
#include "shm/lock/lock_token.h"

#define PIECE (16 * 1024) /* bytes that are read at once */
#define TURNS 8           /* pieces, until other connections come first */
#define IDLE  16          /* reads of TLS that read nothing, at most */

typedef struct {
    apppool_suspended_t suspended; /* for the pump */
    const apl_pool_t *pool;
    const apl_session_ref_t *ref;
    apr_bucket_brigade *bb; /* empty between two calls */
    apppool_pending_t to_app;
    apppool_websocket_close_t frames;
    int is_websocket;
    int client_ended, app_ended; /* that side sends no more */
    int client_told, app_told;   /* that side knows that the other does not */
    int app_is_deaf;             /* it takes no more */
    int idle_reads;              /* of TLS, in a row: see find_nothing() */
} tunnel_t;

/* What was done in one direction. */
typedef enum { NOTHING, MOVED, BROKEN } moved_t;

/* ---- from the client to the app ---- */

/* It may still have something to say. */
static moved_t stop_sending(tunnel_t *t)
{
    t->app_is_deaf = 1;
    apppool_pending_free(&t->to_app);
    return MOVED;
}

static void put(tunnel_t *t, const char *bytes, apr_size_t n)
{
    if (!t->app_is_deaf &&
        apppool_pending_put(&t->to_app, t->suspended.app, bytes, n) < 0)
        stop_sending(t);
}

static moved_t send_to_app(tunnel_t *t)
{
    moved_t moved = MOVED;
    const char *bytes;
    apr_bucket *b;
    apr_size_t n;

    while (!APR_BRIGADE_EMPTY(t->bb)) {
        b = APR_BRIGADE_FIRST(t->bb);
        t->client_ended |= APR_BUCKET_IS_EOS(b);
        if (APR_BUCKET_IS_METADATA(b))
            ;
        else if (apr_bucket_read(b, &bytes, &n, APR_NONBLOCK_READ) ==
                 APR_SUCCESS)
            put(t, bytes, n);
        else
            moved = BROKEN;
        apr_bucket_delete(b);
    }
    return moved;
}

/* mod_ssl says that there is nothing yet when it has read a record that is for
 * TLS itself, or was to write one and has read nothing. The next one may be
 * there already. */
static moved_t find_nothing(tunnel_t *t)
{
    int found = t->suspended.wire.found;

    if (found == 0)
        return ++t->idle_reads < IDLE ? MOVED : NOTHING;
    t->idle_reads = 0;
    return found > 0 ? MOVED : NOTHING;
}

static moved_t read_client(tunnel_t *t)
{
    conn_rec *c = t->suspended.r->connection;
    apr_status_t rv;

    t->suspended.wire.found = 0;
    rv = ap_get_brigade(c->input_filters, t->bb, AP_MODE_READBYTES,
                        APR_NONBLOCK_READ, PIECE);
    if (APR_STATUS_IS_EOF(rv)) {
        t->client_ended = 1;
        return MOVED;
    }
    if (rv != APR_SUCCESS && !APR_STATUS_IS_EAGAIN(rv))
        return BROKEN;
    if (APR_BRIGADE_EMPTY(t->bb))
        return find_nothing(t);
    return send_to_app(t);
}

static moved_t from_client(tunnel_t *t)
{
    int fd = t->suspended.app;
    ssize_t n = apppool_pending_send(&t->to_app, fd);

    if (n < 0)
        return stop_sending(t);
    if (!apppool_pending_is_empty(&t->to_app))
        return n > 0 ? MOVED : NOTHING;
    if (!t->client_ended)
        return read_client(t);
    if (!t->app_told)
        shutdown(fd, SHUT_WR);
    t->app_told = 1;
    return NOTHING;
}

/* ---- from the app to the client ---- */

static int pass(tunnel_t *t)
{
    conn_rec *c = t->suspended.r->connection;
    apr_status_t rv;

    APR_BRIGADE_INSERT_TAIL(t->bb, apr_bucket_flush_create(c->bucket_alloc));
    rv = ap_pass_brigade(c->output_filters, t->bb);
    apr_brigade_cleanup(t->bb);
    return rv == APR_SUCCESS;
}

/* The last frame for the client, if there may be one now.
 * @return 0: it is in the middle of a frame */
static int say_goodbye(tunnel_t *t)
{
    if (!t->is_websocket || t->frames.closed)
        return 1;
    return apppool_websocket_close_insert(&t->frames, t->bb) && pass(t);
}

static moved_t pass_piece(tunnel_t *t, const char *bytes, apr_size_t n)
{
    conn_rec *c = t->suspended.r->connection;

    if (t->is_websocket)
        apppool_websocket_close_follow(&t->frames, bytes, n);
    APR_BRIGADE_INSERT_TAIL(
        t->bb, apr_bucket_transient_create(bytes, n, c->bucket_alloc));
    return pass(t) ? MOVED : BROKEN;
}

static moved_t read_app(tunnel_t *t)
{
    static char piece[PIECE];
    ssize_t n = recv(t->suspended.app, piece, sizeof piece, MSG_DONTWAIT);

    if (n > 0)
        return pass_piece(t, piece, (apr_size_t)n);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return NOTHING;
    t->app_ended = 1;
    if (apl_checkout_closed(t->pool, t->ref))
        say_goodbye(t);
    return n == 0 ? MOVED : BROKEN;
}

static moved_t from_app(tunnel_t *t)
{
    apppool_wire_t *wire = &t->suspended.wire;
    int is_empty = apppool_wire_flush(wire);

    if (is_empty <= 0)
        return is_empty < 0 ? BROKEN : NOTHING;
    if (!t->app_ended)
        return read_app(t);
    if (!t->client_told)
        shutdown(wire->fd, SHUT_WR);
    t->client_told = 1;
    return NOTHING;
}

/* ---- both ---- */

static int is_over(const tunnel_t *t)
{
    const apppool_link_t *link = t->suspended.link;

    if (link->client_seen & (EPOLLHUP | EPOLLERR))
        return 1;
    if (!t->app_ended)
        return 0;
    return (link->app_seen & (EPOLLHUP | EPOLLERR)) || t->app_is_deaf ||
           (t->client_ended && apppool_pending_is_empty(&t->to_app));
}

static apppool_step_t step(apppool_suspended_t *s, int stops)
{
    tunnel_t *t = s->ctx;
    moved_t to_app, to_client;
    int i;

    for (i = 0; i < TURNS; i++) {
        if (stops && say_goodbye(t))
            return APPPOOL_STEP_ENDS;
        to_app = from_client(t);
        to_client = from_app(t);
        if (to_app == BROKEN || to_client == BROKEN || is_over(t))
            return APPPOOL_STEP_ENDS;
        if (to_app == NOTHING && to_client == NOTHING)
            return APPPOOL_STEP_WAITS;
        s->link->moved = apl_now();
    }
    return APPPOOL_STEP_AGAIN;
}

static apr_status_t forget(void *data)
{
    tunnel_t *t = data;

    apppool_pending_free(&t->to_app);
    return APR_SUCCESS;
}

/* The longer of both limits, as in a tunnel of mod_proxy. */
static int64_t silence_of(const request_rec *r, const apppool_first_byte_t *of)
{
    return of->timeout < 0 || of->timeout > r->server->timeout
               ? of->timeout
               : r->server->timeout;
}

static void see_request(tunnel_t *t, request_rec *r,
                        const apppool_first_byte_t *of)
{
    const char *upgrade = apr_table_get(r->headers_in, "Upgrade");

    t->pool = of->pool;
    t->ref = of->ref;
    t->is_websocket = upgrade && !ap_cstr_casecmp(upgrade, "websocket");
    t->bb =
        apr_brigade_create(r->connection->pool, r->connection->bucket_alloc);
}

int apppool_tunnel_begin(request_rec *r, int app,
                         const apppool_first_byte_t *of, const char *early,
                         apr_size_t n)
{
    conn_rec *c = r->connection;
    tunnel_t *t = apr_pcalloc(c->pool, sizeof *t);

    see_request(t, r, of);
    apr_pool_cleanup_register(c->pool, t, forget, apr_pool_cleanup_null);
    t->suspended = (apppool_suspended_t){.client = apppool_client_socket(c),
                                         .app = app,
                                         .silence = silence_of(r, of),
                                         .step = step,
                                         .ctx = t};
    ap_remove_output_filter_byhandle(c->output_filters,
                                     "SSL/TLS Coalescing Filter");
    /* From now on, there is no request to be filtered. */
    r->input_filters = r->proto_input_filters = c->input_filters;
    r->output_filters = r->proto_output_filters = c->output_filters;
    t->suspended.r = r;
    if (n > 0)
        pass_piece(t, early, n);
    if (apppool_suspend(&t->suspended, r))
        return 1;
    apppool_suspend_stay(&t->suspended, r);
    return 0;
}
