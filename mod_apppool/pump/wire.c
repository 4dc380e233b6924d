/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/pump/wire.h"

#include <apr_optional.h>
#include <errno.h>
#include <http_core.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PIECE (16 * 1024) /* bytes that are read at once */
#define EARLY (64 * 1024) /* bytes: more than httpd's filter ever holds */

static ap_filter_rec_t *input, *output;

/* ---- from the client ---- */

static char piece[PIECE];

static ssize_t read_early(apppool_pending_t *early, size_t n, int is_look)
{
    if (n > early->end - early->begin)
        n = early->end - early->begin;
    memcpy(piece, early->bytes + early->begin, n);
    if (!is_look)
        early->begin += n;
    if (early->begin == early->end)
        apppool_pending_free(early);
    return (ssize_t)n;
}

/* @return bytes; 0: the end; -1: see errno */
static ssize_t read_some(apppool_wire_t *wire, size_t n, int is_look)
{
    ssize_t got;

    if (n > sizeof piece)
        n = sizeof piece;
    if (!apppool_pending_is_empty(&wire->early))
        return read_early(&wire->early, n, is_look);
    do
        got = recv(wire->fd, piece, n, MSG_DONTWAIT | (is_look ? MSG_PEEK : 0));
    while (got < 0 && errno == EINTR);
    return got;
}

/* As httpd's own filter: an empty brigade says that there is nothing yet. */
static apr_status_t read_wire(ap_filter_t *f, apr_bucket_brigade *bb,
                              ap_input_mode_t mode, apr_read_type_e block,
                              apr_off_t bytes)
{
    apppool_wire_t *wire = f->ctx;
    ssize_t n;

    if (wire->fd < 0)
        return ap_get_brigade(f->next, bb, mode, block, bytes);
    if (mode != AP_MODE_READBYTES && mode != AP_MODE_SPECULATIVE)
        return mode == AP_MODE_INIT ? APR_SUCCESS : APR_ENOTIMPL;
    n = read_some(wire, bytes > 0 ? (size_t)bytes : 1,
                  mode == AP_MODE_SPECULATIVE);
    wire->found = n > 0 ? 1 : -1;
    if (n < 0)
        return errno == EAGAIN ? APR_SUCCESS : errno;
    if (n == 0)
        return APR_EOF;
    APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_transient_create(
                                    piece, (apr_size_t)n, f->c->bucket_alloc));
    return APR_SUCCESS;
}

/* ---- to the client ---- */

/* mod_logio counts them. */
static void count(conn_rec *c, ssize_t n)
{
    APR_OPTIONAL_FN_TYPE(ap_logio_add_bytes_out) *add =
        APR_RETRIEVE_OPTIONAL_FN(ap_logio_add_bytes_out);

    if (add && n > 0)
        add(c, n);
}

/* @return bytes; -1: the client is gone */
static ssize_t sent(apppool_wire_t *wire, ssize_t n)
{
    count(wire->c, n);
    if (n < 0)
        wire->c->aborted = 1;
    return n;
}

/* A few small pieces become one: the client gets an event in one packet. */
static apr_status_t write_wire(ap_filter_t *f, apr_bucket_brigade *bb)
{
    apppool_wire_t *wire = f->ctx;
    apr_status_t rv = f->c->aborted ? APR_ECONNABORTED : APR_SUCCESS;
    const char *bytes;
    apr_bucket *b;
    apr_size_t n;

    if (wire->fd < 0)
        return ap_pass_brigade(f->next, bb);
    while (rv == APR_SUCCESS && !APR_BRIGADE_EMPTY(bb)) {
        b = APR_BRIGADE_FIRST(bb);
        if (!APR_BUCKET_IS_METADATA(b)) {
            rv = apr_bucket_read(b, &bytes, &n, APR_BLOCK_READ);
            if (rv == APR_SUCCESS)
                apppool_pending_keep(&wire->pending, bytes, n);
        }
        apr_bucket_delete(b);
    }
    if (rv == APR_SUCCESS && apppool_wire_flush(wire) < 0)
        rv = APR_ECONNABORTED;
    apr_brigade_cleanup(bb);
    return rv;
}

int apppool_wire_flush(apppool_wire_t *wire)
{
    if (sent(wire, apppool_pending_send(&wire->pending, wire->fd)) < 0)
        return -1;
    return apppool_pending_is_empty(&wire->pending);
}

/* ---- plugging in ---- */

void apppool_wire_register(void)
{
    /* mod_logio's filter, which counts what is read, stays above. */
    input = ap_register_input_filter("APPPOOL_WIRE", read_wire, NULL,
                                     AP_FTYPE_NETWORK - 1);
    output = ap_register_output_filter("APPPOOL_WIRE", write_wire, NULL,
                                       AP_FTYPE_NETWORK - 1);
}

void *apppool_wire_owner(const conn_rec *c)
{
    const ap_filter_t *f = c->input_filters;

    while (f && f->frec != input)
        f = f->next;
    return f ? ((const apppool_wire_t *)f->ctx)->owner : NULL;
}

/* httpd's filter reads more than it is asked for. It gives all of that at
 * once, if it is asked for more than it has. */
static void take_early(apppool_wire_t *wire)
{
    apr_bucket_brigade *bb =
        apr_brigade_create(wire->c->pool, wire->c->bucket_alloc);
    const char *bytes;
    apr_bucket *b;
    apr_size_t n;

    if (ap_get_brigade(wire->in->next, bb, AP_MODE_READBYTES, APR_NONBLOCK_READ,
                       EARLY) == APR_SUCCESS)
        for (b = APR_BRIGADE_FIRST(bb); b != APR_BRIGADE_SENTINEL(bb);
             b = APR_BUCKET_NEXT(b))
            if (apr_bucket_read(b, &bytes, &n, APR_BLOCK_READ) == APR_SUCCESS)
                apppool_pending_keep(&wire->early, bytes, n);
    apr_brigade_destroy(bb);
}

/* httpd does not see that the first filter of the connection is another one. */
static void see_first(ap_filter_t **first, ap_filter_t *added)
{
    if (*first == added->next)
        *first = added;
}

void apppool_wire_plug(apppool_wire_t *wire, request_rec *r, int fd,
                       void *owner)
{
    conn_rec *c = r->connection;

    *wire = (apppool_wire_t){.c = c, .fd = fd, .owner = owner};
    wire->in = ap_add_input_filter_handle(input, wire, r, c);
    wire->out = ap_add_output_filter_handle(output, wire, r, c);
    see_first(&r->input_filters, wire->in);
    see_first(&r->proto_input_filters, wire->in);
    see_first(&r->output_filters, wire->out);
    see_first(&r->proto_output_filters, wire->out);
    take_early(wire);
}

static void pass_pending(apppool_wire_t *wire)
{
    const apppool_pending_t *pending = &wire->pending;
    apr_bucket_brigade *bb;

    if (apppool_pending_is_empty(pending) || wire->c->aborted)
        return;
    bb = apr_brigade_create(wire->c->pool, wire->c->bucket_alloc);
    apr_brigade_write(bb, NULL, NULL, pending->bytes + pending->begin,
                      pending->end - pending->begin);
    ap_pass_brigade(wire->out->next, bb);
    apr_brigade_destroy(bb);
}

/* The filters stay, and pass everything on: filters of the request know
 * them. */
void apppool_wire_cut(apppool_wire_t *wire)
{
    wire->owner = NULL;
    apppool_pending_free(&wire->early);
    apppool_pending_free(&wire->pending);
    if (wire->fd >= 0)
        close(wire->fd);
    wire->fd = -1;
}

void apppool_wire_unplug(apppool_wire_t *wire)
{
    pass_pending(wire);
    apppool_wire_cut(wire);
}
