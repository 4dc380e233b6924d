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

/* mod_http2's default is 32 KB for a stream. The part that response_buffer.c
 * keeps in memory has to fit, too. */
#define STREAM     (16 * 1024)
#define SLICE      20 /* ms between two checks of a stream */

struct apppool_output_room_t {
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
    apppool_output_room_t *room;
    apr_off_t upto; /* bytes that were passed before it */
} mark_t;

static void destroy_mark(void *data)
{
    mark_t *mark = data;

    if (!apr_bucket_shared_destroy(mark))
        return;
    if (mark->upto > mark->room->taken)
        mark->room->taken = mark->upto;
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

static void append_mark(apppool_output_room_t *room, apr_bucket_brigade *bb)
{
    apr_bucket *b = apr_bucket_alloc(sizeof *b, bb->bucket_alloc);
    mark_t *mark = apr_bucket_alloc(sizeof *mark, bb->bucket_alloc);

    APR_BUCKET_INIT(b);
    b->free = apr_bucket_free;
    b->list = bb->bucket_alloc;
    mark->room = room;
    mark->upto = room->passed;
    b = apr_bucket_shared_make(b, mark, 0, 0);
    b->type = &mark_type;
    APR_BRIGADE_INSERT_TAIL(bb, b);
}

/* mod_http2 destroys what was taken when something is sent, even an empty
 * brigade. */
static void collect_marks(apppool_output_room_t *room)
{
    ap_pass_brigade(room->c->output_filters, room->none);
}

/* ---- room ---- */

apppool_output_room_t *apppool_output_room_make(request_rec *r)
{
    conn_rec *c = r->connection;
    apr_socket_t *sock = c->master ? NULL : ap_get_conn_socket(c);
    /* mod_http2 may hold marks when the request's own memory is gone. The
     * memory of a stream's connection serves this request only. */
    apppool_output_room_t *room =
        apr_pcalloc(c->master ? c->pool : r->pool, sizeof *room);

    room->c = c;
    room->none = apr_brigade_create(r->pool, c->bucket_alloc);
    if (c->master)
        room->socket = -1;
    else if (!sock || apr_os_sock_get(&room->socket, sock) != APR_SUCCESS)
        return NULL;
    return room;
}

int apppool_output_room_is_stream(const apppool_output_room_t *room)
{
    return room->socket < 0;
}

int apppool_output_room_is_resting(const apppool_output_room_t *room)
{
    return room->slow && apl_now() < room->rest;
}

int apppool_output_room_is_clear(const apppool_output_room_t *room)
{
    return apppool_output_room_is_stream(room) || room->c->aborted ||
           !room->c->data_in_output_filters;
}

/* @param socket -1: wait only for the app */
static int wait_for(int socket, int app, int ms)
{
    struct pollfd fds[] = {{socket, POLLOUT, 0}, {app, POLLIN, 0}};
    int n;

    do
        n = poll(fds, 2, ms);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        return 0;
    return (fds[0].revents ? APPPOOL_CLIENT_READY : 0) |
           (fds[1].revents ? APPPOOL_APP_READY : 0);
}

/* Write what the core filter has kept, as far as possible without waiting, as
 * event does when a handler has returned. If this fails, the next pass fails,
 * too. */
static void flush_core_filter(conn_rec *c)
{
    ap_filter_t *core = c->output_filters;

    while (core->next)
        core = core->next;
    core->frec->filter_func.out_func(core, NULL);
}

static apr_off_t room_of_stream(apppool_output_room_t *room)
{
    collect_marks(room);
    return room->taken + STREAM - room->passed;
}

static apr_off_t room_of_socket(apppool_output_room_t *room)
{
    if (!wait_for(room->socket, -1, 0))
        return 0;
    if (room->c->data_in_output_filters)
        flush_core_filter(room->c);
    return apppool_output_room_is_clear(room) ? PIECE : 0;
}

apr_off_t apppool_output_room_bytes(apppool_output_room_t *room)
{
    apr_off_t bytes = apppool_output_room_is_stream(room)
                          ? room_of_stream(room)
                          : room_of_socket(room);

    return room->slow && bytes > SLOW_PIECE ? SLOW_PIECE : bytes;
}

apr_status_t apppool_output_room_pass(apppool_output_room_t *room,
                                      ap_filter_t *next, apr_bucket_brigade *bb)
{
    int64_t since = apl_now(), took;
    apr_off_t n = 0;
    apr_status_t rv;

    if (apppool_output_room_is_stream(room)) {
        apr_brigade_length(bb, 0, &n);
        room->passed += n;
        append_mark(room, bb);
    }
    rv = ap_pass_brigade(next, bb);
    apr_brigade_cleanup(bb);
    took = apl_now() - since;
    room->slow = took > SLOW;
    room->rest = since + took + REST * took;
    return rv;
}

static int wait_for_stream(apppool_output_room_t *room, int app, int ms)
{
    int ready = 0, slice;

    while (!ready) {
        if (room->c->aborted || room_of_stream(room) > 0)
            return wait_for(-1, app, 0) | APPPOOL_CLIENT_READY;
        if (ms == 0)
            return 0;
        slice = ms < 0 || ms > SLICE ? SLICE : ms;
        ready = wait_for(-1, app, slice);
        if (ms > 0)
            ms -= slice;
    }
    return ready;
}

int apppool_output_room_wait(apppool_output_room_t *room, int app, int ms)
{
    return apppool_output_room_is_stream(room)
               ? wait_for_stream(room, app, ms)
               : wait_for(room->socket, app, ms);
}
