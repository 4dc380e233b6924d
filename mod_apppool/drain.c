/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/drain.h"

#include <apr_portable.h>
#include <errno.h>
#include <http_core.h>
#include <http_log.h>
#include <limits.h>
#include <poll.h>

#include "mod_apppool/config.h"
#include "mod_apppool/lasting.h"
#include "mod_apppool/store.h"

APLOG_USE_MODULE(apppool);

#define PIECE  (32 * 1024) /* less than the core filter keeps in memory */
#define MOST   ((apr_off_t)1 << 30) /* stored of one answer */

/* Who is ready. */
#define CLIENT 1
#define APP    2

struct apppool_drain_t {
    request_rec *r;
    const char *label;
    apppool_store_t *store;
    apr_bucket_brigade *piece;
    int client, app; /* descriptors */
    int patience;    /* ms */
    int complained;
};

/* ---- an answer ---- */

apppool_drain_t *apppool_drain_make(request_rec *r, const char *label, int app,
                                    apr_interval_time_t timeout)
{
    conn_rec *c = r->connection;
    apr_socket_t *sock = c->master ? NULL : ap_get_conn_socket(c);
    apr_int64_t ms = timeout / 1000;
    apppool_drain_t *drain;

    if (!sock || apppool_lasting_is(r) || !apppool_buffers_response(r))
        return NULL;
    drain = apr_pcalloc(r->pool, sizeof *drain);
    if (apr_os_sock_get(&drain->client, sock) != APR_SUCCESS)
        return NULL;
    drain->r = r;
    drain->label = label;
    drain->store = apppool_store_make(r);
    drain->piece = apr_brigade_create(r->pool, c->bucket_alloc);
    drain->app = app;
    drain->patience = ms < 0 || ms > INT_MAX ? -1 : (int)ms;
    return drain;
}

/* ---- the client's side ---- */

/* @return CLIENT: it can be written to; APP: there is something to be read;
 * 0: neither, in this time */
static int ready(const apppool_drain_t *drain, int who, int ms)
{
    struct pollfd fds[] = {
        {who & CLIENT ? drain->client : -1, POLLOUT, 0},
        {who & APP ? drain->app : -1, POLLIN, 0},
    };
    int n;

    do
        n = poll(fds, 2, ms);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        return 0;
    return (fds[0].revents ? CLIENT : 0) | (fds[1].revents ? APP : 0);
}

/* Write what the core filter has kept, as far as that goes without waiting:
 * just as event does it when a handler has returned. */
static apr_status_t push(conn_rec *c)
{
    ap_filter_t *core = c->output_filters;

    while (core->next)
        core = core->next;
    return core->frec->filter_func.out_func(core, NULL);
}

/* The next of what is stored. */
static apr_status_t pass_piece(apppool_drain_t *drain, ap_filter_t *next)
{
    apr_status_t rv = apppool_store_get(drain->store, drain->piece, PIECE);

    if (rv == APR_SUCCESS)
        rv = ap_pass_brigade(next, drain->piece);
    apr_brigade_cleanup(drain->piece);
    if (apppool_store_left(drain->store) == 0)
        apppool_store_clear(drain->store);
    return rv;
}

static apr_status_t pass_flush(apppool_drain_t *drain, ap_filter_t *next)
{
    apr_status_t rv;

    APR_BRIGADE_INSERT_TAIL(
        drain->piece, apr_bucket_flush_create(drain->piece->bucket_alloc));
    rv = ap_pass_brigade(next, drain->piece);
    apr_brigade_cleanup(drain->piece);
    return rv;
}

/* Does the client have all that was given to it? */
static int even(const apppool_drain_t *drain)
{
    return apppool_store_left(drain->store) == 0 &&
           !drain->r->connection->data_in_output_filters;
}

/* The client has room: fill it, without waiting. */
static apr_status_t write_some(apppool_drain_t *drain, ap_filter_t *next)
{
    conn_rec *c = drain->r->connection;
    apr_status_t rv = c->data_in_output_filters ? push(c) : APR_SUCCESS;

    if (rv == APR_SUCCESS && !c->data_in_output_filters &&
        apppool_store_left(drain->store) > 0)
        rv = pass_piece(drain, next);
    return rv;
}

/* The app pauses: until it does not, the client can have the rest. */
static apr_status_t write_meanwhile(apppool_drain_t *drain, ap_filter_t *next)
{
    apr_status_t rv = APR_SUCCESS;
    int who;

    while (rv == APR_SUCCESS) {
        who = ready(drain, CLIENT | APP, drain->patience);
        if (who & CLIENT && even(drain))
            return pass_flush(drain, next);
        if (who & CLIENT)
            rv = write_some(drain, next);
        if (who & APP || !who)
            return rv;
    }
    return rv;
}

/* There is no room to store more. */
static apr_status_t write_all(apppool_drain_t *drain, ap_filter_t *next)
{
    apr_status_t rv = APR_SUCCESS;

    while (rv == APR_SUCCESS && apppool_store_left(drain->store) > 0)
        rv = pass_piece(drain, next);
    return rv;
}

/* ---- the app's side ---- */

static void complain(apppool_drain_t *drain, apr_status_t rv)
{
    if (!drain->complained)
        ap_log_rerror(APLOG_MARK, APLOG_WARNING, rv, drain->r,
                      "apppool: %s: an answer cannot be stored in %s: the "
                      "process waits for its reader",
                      drain->label, apppool_store_dir());
    drain->complained = 1;
}

/* Store the part; what finds no room stays in it. */
static apr_status_t take(apppool_drain_t *drain, apr_bucket_brigade *bb)
{
    const char *bytes;
    apr_size_t count;
    apr_bucket *b;
    apr_status_t rv;

    while (!APR_BRIGADE_EMPTY(bb)) {
        b = APR_BRIGADE_FIRST(bb);
        rv = apr_bucket_read(b, &bytes, &count, APR_BLOCK_READ);
        if (rv != APR_SUCCESS)
            return rv;
        if (apppool_store_size(drain->store) >= MOST)
            return APR_SUCCESS;
        rv = apppool_store_put(drain->store, bytes, count);
        if (rv != APR_SUCCESS) {
            complain(drain, rv);
            return APR_SUCCESS;
        }
        apr_bucket_delete(b);
    }
    return APR_SUCCESS;
}

/* @return 1: there were some */
static int remove_flushes(apr_bucket_brigade *bb)
{
    apr_bucket *b, *next;
    int found = 0;

    for (b = APR_BRIGADE_FIRST(bb); b != APR_BRIGADE_SENTINEL(bb); b = next) {
        next = APR_BUCKET_NEXT(b);
        if (APR_BUCKET_IS_FLUSH(b)) {
            found = 1;
            apr_bucket_delete(b);
        }
    }
    return found;
}

/* Nothing but data? */
static int is_plain(apr_bucket_brigade *bb)
{
    apr_bucket *b;

    for (b = APR_BRIGADE_FIRST(bb); b != APR_BRIGADE_SENTINEL(bb);
         b = APR_BUCKET_NEXT(b))
        if (APR_BUCKET_IS_METADATA(b))
            return 0;
    return 1;
}

static void prepend_rest(apppool_drain_t *drain, apr_bucket_brigade *bb)
{
    apppool_store_rest(drain->store, drain->piece);
    APR_BRIGADE_PREPEND(bb, drain->piece);
}

/* ---- both ---- */

apr_status_t apppool_drain(apppool_drain_t *drain, ap_filter_t *next,
                           apr_bucket_brigade *bb)
{
    int flush;
    apr_status_t rv;

    if (!APR_BRIGADE_EMPTY(bb) && APR_BUCKET_IS_EOS(APR_BRIGADE_LAST(bb))) {
        prepend_rest(drain, bb);
        return APR_SUCCESS;
    }
    flush = remove_flushes(bb);
    if (even(drain) && (!flush || ready(drain, CLIENT, 0))) {
        if (flush)
            APR_BRIGADE_INSERT_TAIL(bb,
                                    apr_bucket_flush_create(bb->bucket_alloc));
        return APR_SUCCESS;
    }
    if (!is_plain(bb))
        return write_all(drain, next);
    rv = take(drain, bb);
    if (rv == APR_SUCCESS && !APR_BRIGADE_EMPTY(bb))
        return write_all(drain, next);
    if (rv == APR_SUCCESS && flush)
        return write_meanwhile(drain, next);
    if (rv == APR_SUCCESS && ready(drain, CLIENT, 0))
        return write_some(drain, next);
    return rv;
}
