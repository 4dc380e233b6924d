/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/body/response_buffer.h"

#include <http_log.h>
#include <limits.h>

#include "mod_apppool/config/config.h"
#include "mod_apppool/body/streaming.h"
#include "mod_apppool/body/output_room.h"
#include "mod_apppool/body/spool.h"

APLOG_USE_MODULE(apppool);

/* What is kept in memory of a stream's answer; mod_http2 has to have room for
 * that, beside what it was given (output_room.c), or the rest would wait. */
#define STREAM (8 * 1024)

struct apppool_drain_t {
    request_rec *r;
    const char *label;
    apppool_store_t *store;
    apppool_outlet_t *outlet;
    apr_bucket_brigade *piece;
    apr_off_t limit; /* bytes in the store */
    int app;         /* descriptor */
    int patience;    /* ms */
    int complained;
};

/* ---- an answer ---- */

apppool_drain_t *apppool_drain_make(request_rec *r, const char *label, int app,
                                    apr_interval_time_t timeout)
{
    apr_int64_t ms = timeout / 1000;
    apppool_outlet_t *outlet;
    apppool_drain_t *drain;

    if (apppool_lasting_is(r) || !apppool_buffers_response(r))
        return NULL;
    outlet = apppool_outlet_make(r);
    if (!outlet)
        return NULL;
    drain = apr_pcalloc(r->pool, sizeof *drain);
    drain->r = r;
    drain->label = label;
    drain->outlet = outlet;
    drain->store = apppool_store_make(
        r, apppool_outlet_is_stream(outlet) ? STREAM : APPPOOL_STORE_MEMORY);
    drain->piece = apr_brigade_create(r->pool, r->connection->bucket_alloc);
    drain->limit = apppool_spool_limit(r);
    drain->app = app;
    drain->patience = ms < 0 || ms > INT_MAX ? -1 : (int)ms;
    return drain;
}

/* ---- the client's side ---- */

/* The next of what is stored. */
static apr_status_t pass_piece(apppool_drain_t *drain, ap_filter_t *next,
                               apr_off_t most)
{
    apr_status_t rv = apppool_store_get(drain->store, drain->piece, most);

    if (rv == APR_SUCCESS)
        rv = apppool_outlet_pass(drain->outlet, next, drain->piece);
    apr_brigade_cleanup(drain->piece);
    if (apppool_store_left(drain->store) == 0)
        apppool_store_clear(drain->store);
    return rv;
}

static apr_status_t pass_part(apppool_drain_t *drain, ap_filter_t *next,
                              apr_bucket_brigade *bb, int flush)
{
    if (flush)
        APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_flush_create(bb->bucket_alloc));
    return apppool_outlet_pass(drain->outlet, next, bb);
}

/* The client may have room: fill it, without waiting. */
static apr_status_t write_some(apppool_drain_t *drain, ap_filter_t *next)
{
    apr_off_t room = apppool_outlet_room(drain->outlet);

    return room > 0 && apppool_store_left(drain->store) > 0
               ? pass_piece(drain, next, room)
               : APR_SUCCESS;
}

/* The app pauses: until it does not, the client can have the rest. */
static apr_status_t write_meanwhile(apppool_drain_t *drain, ap_filter_t *next)
{
    apr_status_t rv = APR_SUCCESS;
    int who;

    while (rv == APR_SUCCESS) {
        who = apppool_outlet_wait(drain->outlet, drain->app, drain->patience);
        if (who & APPPOOL_CLIENT && apppool_store_left(drain->store) == 0 &&
            apppool_outlet_is_clear(drain->outlet))
            return pass_part(drain, next, drain->piece, 1);
        if (who & APPPOOL_CLIENT)
            rv = write_some(drain, next);
        if (who & APPPOOL_APP || !who)
            return rv;
    }
    return rv;
}

/* There is no room to store more. */
static apr_status_t write_all(apppool_drain_t *drain, ap_filter_t *next)
{
    apr_status_t rv = APR_SUCCESS;

    while (rv == APR_SUCCESS && apppool_store_left(drain->store) > 0)
        rv = pass_piece(drain, next, apppool_store_left(drain->store));
    return rv;
}

/* ---- the app's side ---- */

static void complain(apppool_drain_t *drain, apr_status_t rv, const char *why)
{
    if (!drain->complained)
        ap_log_rerror(APLOG_MARK, APLOG_WARNING, rv, drain->r,
                      "apppool: %s: an answer cannot be stored in %s%s: the "
                      "process waits for its reader",
                      drain->label, apppool_store_dir(), why);
    drain->complained = 1;
}

/* @return 0: there is no room */
static int store(apppool_drain_t *drain, const char *bytes, apr_size_t count)
{
    apr_status_t rv;

    if (apppool_store_size(drain->store) >= drain->limit)
        return 0;
    if (apppool_store_is_tight(drain->store)) {
        complain(drain, 0, ", as less than AppPoolSpoolFree is free");
        return 0;
    }
    rv = apppool_store_put(drain->store, bytes, count);
    if (rv != APR_SUCCESS)
        complain(drain, rv, "");
    return rv == APR_SUCCESS;
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
        if (!store(drain, bytes, count))
            return APR_SUCCESS;
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

/* Can it be passed on as it is? */
static int has_room(apppool_drain_t *drain, apr_bucket_brigade *bb)
{
    apr_off_t n = 0, room;

    if (apppool_store_left(drain->store) > 0 ||
        apppool_outlet_rests(drain->outlet) ||
        apr_brigade_length(bb, 1, &n) != APR_SUCCESS)
        return 0;
    room = apppool_outlet_room(drain->outlet);
    return room > 0 && n <= room;
}

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
    if (!is_plain(bb))
        return write_all(drain, next);
    if (has_room(drain, bb))
        return pass_part(drain, next, bb, flush);
    rv = take(drain, bb);
    if (rv == APR_SUCCESS && !APR_BRIGADE_EMPTY(bb))
        return write_all(drain, next);
    if (rv == APR_SUCCESS && flush)
        return write_meanwhile(drain, next);
    if (rv == APR_SUCCESS && !apppool_outlet_rests(drain->outlet))
        return write_some(drain, next);
    return rv;
}
