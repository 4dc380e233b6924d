/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/body/output_room.h"

#include <apr_portable.h>
#include <errno.h>
#include <http_core.h>
#include <poll.h>

#include "shm/lock/lock_token.h"

#define PIECE      (32 * 1024) /* less than the core filter keeps in memory */
#define SLOW_PIECE (4 * 1024)
#define SLOW       20000 /* us of a pass */
#define REST       10    /* times the time of a slow one */

/* mod_http2's default is 32 KB for a stream, and the first part of a store
 * (response_buffer.c) has to fit in as well. */
#define STREAM     (16 * 1024)
#define SLICE      20 /* ms between two looks at a stream */

struct apppool_outlet_t {
    conn_rec *c;
    int socket;               /* descriptor; -1: it is a stream */
    apr_bucket_brigade *none; /* always empty */
    apr_off_t passed, taken;  /* bytes, of a stream */
    int64_t rest;             /* until then, us of apl_now() */
    int slow;
};

/* ---- marks ---- */

typedef struct {
    apr_bucket_refcount refcount; /* first */
    apppool_outlet_t *outlet;
    apr_off_t upto; /* bytes that were passed before it */
} mark_t;

static void destroy_mark(void *data)
{
    mark_t *mark = data;

    if (!apr_bucket_shared_destroy(mark))
        return;
    if (mark->upto > mark->outlet->taken)
        mark->outlet->taken = mark->upto;
    apr_bucket_free(mark);
}

static apr_status_t read_mark(apr_bucket *b, const char **bytes,
                              apr_size_t *count, apr_read_type_e block)
{
    (void)b;
    (void)block;
    *bytes = NULL;
    *count = 0;
    return APR_SUCCESS;
}

static const apr_bucket_type_t mark_type = {
    "APPPOOL_MARK",
    5,
    APR_BUCKET_METADATA,
    destroy_mark,
    read_mark,
    apr_bucket_setaside_noop,
    apr_bucket_split_notimpl,
    apr_bucket_shared_copy,
};

static void append_mark(apppool_outlet_t *outlet, apr_bucket_brigade *bb)
{
    apr_bucket *b = apr_bucket_alloc(sizeof *b, bb->bucket_alloc);
    mark_t *mark = apr_bucket_alloc(sizeof *mark, bb->bucket_alloc);

    APR_BUCKET_INIT(b);
    b->free = apr_bucket_free;
    b->list = bb->bucket_alloc;
    mark->outlet = outlet;
    mark->upto = outlet->passed;
    b = apr_bucket_shared_make(b, mark, 0, 0);
    b->type = &mark_type;
    APR_BRIGADE_INSERT_TAIL(bb, b);
}

/* mod_http2 destroys what was taken when something is sent, be it nothing. */
static void collect_marks(apppool_outlet_t *outlet)
{
    ap_pass_brigade(outlet->c->output_filters, outlet->none);
}

/* ---- an outlet ---- */

apppool_outlet_t *apppool_outlet_make(request_rec *r)
{
    conn_rec *c = r->connection;
    apr_socket_t *sock = c->master ? NULL : ap_get_conn_socket(c);
    /* Marks are with mod_http2 when the request's own memory is gone; that of
     * its connection serves no other one. */
    apppool_outlet_t *outlet =
        apr_pcalloc(c->master ? c->pool : r->pool, sizeof *outlet);

    outlet->c = c;
    outlet->none = apr_brigade_create(r->pool, c->bucket_alloc);
    if (c->master)
        outlet->socket = -1;
    else if (!sock || apr_os_sock_get(&outlet->socket, sock) != APR_SUCCESS)
        return NULL;
    return outlet;
}

int apppool_outlet_is_stream(const apppool_outlet_t *outlet)
{
    return outlet->socket < 0;
}

int apppool_outlet_rests(const apppool_outlet_t *outlet)
{
    return outlet->slow && apl_now() < outlet->rest;
}

int apppool_outlet_is_clear(const apppool_outlet_t *outlet)
{
    return apppool_outlet_is_stream(outlet) || outlet->c->aborted ||
           !outlet->c->data_in_output_filters;
}

/* @param socket -1: only the app is waited for */
static int wait_for(int socket, int app, int ms)
{
    struct pollfd fds[] = {{socket, POLLOUT, 0}, {app, POLLIN, 0}};
    int n;

    do
        n = poll(fds, 2, ms);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        return 0;
    return (fds[0].revents ? APPPOOL_CLIENT : 0) |
           (fds[1].revents ? APPPOOL_APP : 0);
}

/* Write what the core filter has kept, as far as that goes without waiting:
 * just as event does it when a handler has returned. The next pass fails when
 * this does. */
static void push(conn_rec *c)
{
    ap_filter_t *core = c->output_filters;

    while (core->next)
        core = core->next;
    core->frec->filter_func.out_func(core, NULL);
}

static apr_off_t room_of_stream(apppool_outlet_t *outlet)
{
    collect_marks(outlet);
    return outlet->taken + STREAM - outlet->passed;
}

static apr_off_t room_of_socket(apppool_outlet_t *outlet)
{
    if (!wait_for(outlet->socket, -1, 0))
        return 0;
    if (outlet->c->data_in_output_filters)
        push(outlet->c);
    return apppool_outlet_is_clear(outlet) ? PIECE : 0;
}

apr_off_t apppool_outlet_room(apppool_outlet_t *outlet)
{
    apr_off_t room = apppool_outlet_is_stream(outlet) ? room_of_stream(outlet)
                                                      : room_of_socket(outlet);

    return outlet->slow && room > SLOW_PIECE ? SLOW_PIECE : room;
}

apr_status_t apppool_outlet_pass(apppool_outlet_t *outlet, ap_filter_t *next,
                                 apr_bucket_brigade *bb)
{
    int64_t since = apl_now(), took;
    apr_off_t n = 0;
    apr_status_t rv;

    if (apppool_outlet_is_stream(outlet)) {
        apr_brigade_length(bb, 0, &n);
        outlet->passed += n;
        append_mark(outlet, bb);
    }
    rv = ap_pass_brigade(next, bb);
    apr_brigade_cleanup(bb);
    took = apl_now() - since;
    outlet->slow = took > SLOW;
    outlet->rest = since + took + REST * took;
    return rv;
}

static int wait_for_stream(apppool_outlet_t *outlet, int app, int ms)
{
    int who = 0, slice;

    while (!who) {
        if (outlet->c->aborted || room_of_stream(outlet) > 0)
            return wait_for(-1, app, 0) | APPPOOL_CLIENT;
        if (ms == 0)
            return 0;
        slice = ms < 0 || ms > SLICE ? SLICE : ms;
        who = wait_for(-1, app, slice);
        if (ms > 0)
            ms -= slice;
    }
    return who;
}

int apppool_outlet_wait(apppool_outlet_t *outlet, int app, int ms)
{
    return apppool_outlet_is_stream(outlet) ? wait_for_stream(outlet, app, ms)
                                            : wait_for(outlet->socket, app, ms);
}
