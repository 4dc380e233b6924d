/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/body/response_buffer.h"

#include <http_log.h>
#include <limits.h>

#include "mod_apppool/config/setting.h"
#include "mod_apppool/body/streaming.h"
#include "mod_apppool/body/output_room.h"
#include "mod_apppool/body/spool.h"
#include "mod_apppool/body/spool_file.h"

APLOG_USE_MODULE(apppool);

/* Bytes of a stream's response that are kept in memory. mod_http2 needs room
 * for them beside the bytes that it has got (output_room.c). Otherwise the rest
 * would wait. */
#define STREAM (8 * 1024)

struct apppool_response_buffer_t {
    request_rec *r;
    const char *label;
    apppool_spool_t *spool;
    apppool_output_room_t *room;
    apr_bucket_brigade *piece;
    apr_off_t limit; /* bytes in the spool */
    int app;         /* descriptor */
    int timeout_ms;  /* ms */
    int flushed;     /* nothing was passed on since the last flush */
    int has_warned;
};

/* ---- a response ---- */

apppool_response_buffer_t *
apppool_response_buffer_make(request_rec *r, const char *label, int app,
                             apr_interval_time_t timeout)
{
    apr_int64_t ms = timeout / 1000, limit;
    apppool_output_room_t *room;
    apppool_response_buffer_t *buffer;

    if (apppool_streaming_kind(r) ||
        !apppool_setting_here(r, APPPOOL_AppBufferResponse))
        return NULL;
    room = apppool_output_room_make(r);
    if (!room)
        return NULL;
    buffer = apr_pcalloc(r->pool, sizeof *buffer);
    buffer->r = r;
    buffer->label = label;
    buffer->room = room;
    buffer->spool = apppool_spool_make(
        r, apppool_output_room_is_stream(room) ? STREAM : APPPOOL_SPOOL_MEMORY);
    buffer->piece = apr_brigade_create(r->pool, r->connection->bucket_alloc);
    limit = apppool_setting_here(r, APPPOOL_AppSpoolLimit);
    buffer->limit = limit == 0 ? APR_INT64_MAX : limit;
    buffer->app = app;
    buffer->timeout_ms = ms < 0 || ms > INT_MAX ? -1 : (int)ms;
    return buffer;
}

/* ---- the client's side ---- */

/* Pass on the next bytes of what is stored. */
static apr_status_t pass_piece(apppool_response_buffer_t *buffer,
                               ap_filter_t *next, apr_off_t most)
{
    apr_status_t rv = apppool_spool_get(buffer->spool, buffer->piece, most);

    if (rv == APR_SUCCESS)
        rv = apppool_output_room_pass(buffer->room, next, buffer->piece);
    buffer->flushed = 0;
    apr_brigade_cleanup(buffer->piece);
    if (apppool_spool_left(buffer->spool) == 0)
        apppool_spool_clear(buffer->spool);
    return rv;
}

/* Filters pass on what they hold back. */
static apr_status_t pass_flush(apppool_response_buffer_t *buffer,
                               ap_filter_t *next)
{
    apr_bucket_brigade *bb = buffer->piece;

    if (buffer->flushed)
        return APR_SUCCESS;
    buffer->flushed = 1;
    APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_flush_create(bb->bucket_alloc));
    return apppool_output_room_pass(buffer->room, next, bb);
}

/* While the client has room, fill it without waiting. */
static apr_status_t write_some(apppool_response_buffer_t *buffer,
                               ap_filter_t *next)
{
    apr_status_t rv = APR_SUCCESS;
    apr_off_t bytes;

    while (rv == APR_SUCCESS && apppool_spool_left(buffer->spool) > 0) {
        bytes = apppool_output_room_bytes(buffer->room);
        if (bytes <= 0)
            break;
        rv = pass_piece(buffer, next, bytes);
    }
    return rv;
}

/* The app pauses. Until it continues, the client can get the rest. */
static apr_status_t write_meanwhile(apppool_response_buffer_t *buffer,
                                    ap_filter_t *next)
{
    apr_status_t rv = APR_SUCCESS;
    int ready;

    for (;;) {
        /* mod_deflate holds back data until there is a flush, and the marks
         * behind it. Then there would be no room until the app continues. */
        if (apppool_output_room_is_stream(buffer->room) &&
            !apppool_output_room_rests(buffer->room))
            rv = pass_flush(buffer, next);
        if (rv != APR_SUCCESS)
            return rv;
        ready = apppool_output_room_wait(buffer->room, buffer->app,
                                         buffer->timeout_ms);
        /* A filter may hold back the marks of a stream for ever. Then there is
         * no room, and no pass finds out that the client has left. */
        if (buffer->r->connection->aborted)
            return APR_ECONNABORTED;
        if (ready & APPPOOL_CLIENT_READY &&
            apppool_spool_left(buffer->spool) == 0 &&
            apppool_output_room_is_clear(buffer->room))
            return pass_flush(buffer, next);
        if (ready & APPPOOL_CLIENT_READY)
            rv = write_some(buffer, next);
        if (ready & APPPOOL_APP_READY || !ready)
            return rv;
    }
}

/* Nothing more can be stored. */
static apr_status_t write_all(apppool_response_buffer_t *buffer,
                              ap_filter_t *next)
{
    apr_status_t rv = APR_SUCCESS;

    while (rv == APR_SUCCESS && apppool_spool_left(buffer->spool) > 0)
        rv = pass_piece(buffer, next, apppool_spool_left(buffer->spool));
    return rv;
}

/* ---- the app's side ---- */

static void warn_once(apppool_response_buffer_t *buffer, apr_status_t rv,
                      const char *why)
{
    if (!buffer->has_warned)
        ap_log_rerror(APLOG_MARK, APLOG_WARNING, rv, buffer->r,
                      "apppool: %s: a response cannot be stored in %s%s: the "
                      "process waits for the client",
                      buffer->label, apppool_spool_file_dir(), why);
    buffer->has_warned = 1;
}

/* @return 0: there is no room */
static int store(apppool_response_buffer_t *buffer, const char *bytes,
                 apr_size_t count)
{
    apr_status_t rv;

    if (apppool_spool_size(buffer->spool) >= buffer->limit)
        return 0;
    if (apppool_spool_is_tight(buffer->spool)) {
        warn_once(buffer, 0, ", as less than AppPoolSpoolFree is free");
        return 0;
    }
    rv = apppool_spool_put(buffer->spool, bytes, count);
    if (rv != APR_SUCCESS)
        warn_once(buffer, rv, "");
    return rv == APR_SUCCESS;
}

/* Store the part. Bytes that cannot be stored stay in it. */
static apr_status_t store_part(apppool_response_buffer_t *buffer,
                               apr_bucket_brigade *bb)
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
        if (!store(buffer, bytes, count))
            return APR_SUCCESS;
        apr_bucket_delete(b);
    }
    return APR_SUCCESS;
}

/* @return 1: there was one */
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

/* Does it contain only data? */
static int is_plain(apr_bucket_brigade *bb)
{
    apr_bucket *b;

    for (b = APR_BRIGADE_FIRST(bb); b != APR_BRIGADE_SENTINEL(bb);
         b = APR_BUCKET_NEXT(b))
        if (APR_BUCKET_IS_METADATA(b))
            return 0;
    return 1;
}

static apr_status_t prepend_rest(apppool_response_buffer_t *buffer,
                                 apr_bucket_brigade *bb)
{
    apr_status_t rv = apppool_spool_get_rest(buffer->spool, buffer->piece);

    APR_BRIGADE_PREPEND(bb, buffer->piece);
    return rv;
}

/* ---- both ---- */

/* Move the first bytes of the part to the piece. */
static apr_status_t take_piece(apppool_response_buffer_t *buffer,
                               apr_bucket_brigade *bb, apr_off_t most)
{
    apr_bucket *b, *end;
    apr_status_t rv = apr_brigade_partition(bb, most, &end);

    if (rv != APR_SUCCESS && rv != APR_INCOMPLETE)
        return rv;
    while ((b = APR_BRIGADE_FIRST(bb)) != end) {
        APR_BUCKET_REMOVE(b);
        APR_BRIGADE_INSERT_TAIL(buffer->piece, b);
    }
    return APR_SUCCESS;
}

/* Pass on what the client can take at once, if nothing is stored. The rest
 * stays in the part. */
static apr_status_t pass_part(apppool_response_buffer_t *buffer,
                              ap_filter_t *next, apr_bucket_brigade *bb)
{
    apr_status_t rv = APR_SUCCESS;
    apr_off_t bytes;

    while (rv == APR_SUCCESS && !APR_BRIGADE_EMPTY(bb) &&
           apppool_spool_left(buffer->spool) == 0) {
        bytes = apppool_output_room_bytes(buffer->room);
        if (bytes <= 0)
            break;
        rv = take_piece(buffer, bb, bytes);
        buffer->flushed = 0;
        if (rv == APR_SUCCESS)
            rv = apppool_output_room_pass(buffer->room, next, buffer->piece);
    }
    return rv;
}

apr_status_t apppool_response_buffer_pass(apppool_response_buffer_t *buffer,
                                          ap_filter_t *next,
                                          apr_bucket_brigade *bb)
{
    int flush;
    apr_status_t rv;

    if (!APR_BRIGADE_EMPTY(bb) && APR_BUCKET_IS_EOS(APR_BRIGADE_LAST(bb)))
        return prepend_rest(buffer, bb);
    flush = remove_flushes(bb);
    if (!is_plain(bb)) {
        buffer->flushed = 0;
        return write_all(buffer, next);
    }
    rv = pass_part(buffer, next, bb);
    if (rv == APR_SUCCESS)
        rv = store_part(buffer, bb);
    if (rv != APR_SUCCESS)
        return rv;
    if (!APR_BRIGADE_EMPTY(bb))
        return write_all(buffer, next);
    return flush ? write_meanwhile(buffer, next) : write_some(buffer, next);
}
