/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/body/output_room.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/param.h>
#include <sys/resource.h>

#include "mod_apppool/backend/client_socket.h"
#include "shm/lock/lock_token.h"

/* Less than the core filter keeps in memory. Of a stream of HTTP/2, no more is
 * on its way: mod_http2's default is 32 KB for a stream, and the part that
 * response_buffer.c keeps in memory has to fit, too. */
#define PIECE   (16 * 1024)
#define SLOW    2000    /* us; a fast client has a piece sooner */
#define REST    10      /* times the time of a slow pass, */
#define LONGEST 2000000 /* us, and at most this: what mod_ratelimit needs */
#define SLICE   20      /* ms between two checks of a stream */

struct apppool_output_room_t {
    conn_rec *c;
    int socket;               /* descriptor; -1: it is a stream */
    apr_bucket_brigade *none; /* always empty */
    apr_off_t passed, taken;  /* bytes, of a stream */
    int64_t rest;             /* until then, us of apl_now() */
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
    /* mod_http2 may hold marks when the request's own memory is gone. The
     * memory of a stream's connection serves this request only. */
    apppool_output_room_t *room =
        apr_pcalloc(c->master ? c->pool : r->pool, sizeof *room);

    room->c = c;
    room->none = apr_brigade_create(r->pool, c->bucket_alloc);
    room->socket = apppool_client_socket(c);
    return room->socket >= 0 || c->master ? room : NULL;
}

int apppool_output_room_is_stream(const apppool_output_room_t *room)
{
    return room->socket < 0;
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

int apppool_output_room_is_clear(const apppool_output_room_t *room)
{
    conn_rec *c = room->c;

    if (apppool_output_room_is_stream(room) || c->aborted)
        return 1;
    if (c->data_in_output_filters)
        flush_core_filter(c);
    return !c->data_in_output_filters;
}

static apr_off_t room_of_stream(apppool_output_room_t *room)
{
    collect_marks(room);
    return room->taken + PIECE - room->passed;
}

static apr_off_t room_of_socket(const apppool_output_room_t *room)
{
    return wait_for(room->socket, -1, 0) && apppool_output_room_is_clear(room)
               ? PIECE
               : 0;
}

int apppool_output_room_rests(const apppool_output_room_t *room)
{
    return apl_now() < room->rest;
}

apr_off_t apppool_output_room_bytes(apppool_output_room_t *room)
{
    if (apppool_output_room_rests(room))
        return 0;
    return apppool_output_room_is_stream(room) ? room_of_stream(room)
                                               : room_of_socket(room);
}

static int64_t cpu_time(const struct rusage *used)
{
    return (used->ru_utime.tv_sec + used->ru_stime.tv_sec) * 1000000 +
           used->ru_utime.tv_usec + used->ru_stime.tv_usec;
}

/* Did a filter wait or compute for so long? On a loaded machine, the thread may
 * also have waited for a CPU. That happens to any pass. */
static int is_slow(const struct rusage *before)
{
    struct rusage now;

    return getrusage(RUSAGE_THREAD, &now) != 0 ||
           now.ru_nvcsw != before->ru_nvcsw ||
           cpu_time(&now) - cpu_time(before) > SLOW;
}

apr_status_t apppool_output_room_pass(apppool_output_room_t *room,
                                      ap_filter_t *next, apr_bucket_brigade *bb)
{
    int64_t since = apl_now(), took;
    struct rusage before = {0};
    apr_off_t n = 0;
    apr_status_t rv;

    if (apppool_output_room_is_stream(room))
        apr_brigade_length(bb, 0, &n);
    /* A mark behind a flush would hide it: mod_ratelimit looks at the last
     * bucket. */
    if (n > 0) {
        room->passed += n;
        append_mark(room, bb);
    }
    getrusage(RUSAGE_THREAD, &before);
    rv = ap_pass_brigade(next, bb);
    apr_brigade_cleanup(bb);
    took = apl_now() - since;
    if (took > SLOW && is_slow(&before))
        room->rest = since + took + MIN(REST * took, LONGEST);
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

/* @return ms that the rest still lasts; 0: it is over */
static int rest_of(const apppool_output_room_t *room)
{
    int64_t left = room->rest - apl_now();

    if (left <= 0)
        return 0;
    return left / 1000 < INT_MAX ? (int)(left / 1000) + 1 : INT_MAX;
}

int apppool_output_room_wait(apppool_output_room_t *room, int app, int ms)
{
    int rest = rest_of(room);

    if (rest > 0 && ms >= 0 && ms <= rest)
        return wait_for(-1, app, ms);
    if (rest > 0 && wait_for(-1, app, rest))
        return APPPOOL_APP_READY;
    if (ms > 0)
        ms -= rest;
    if (!apppool_output_room_is_stream(room))
        return wait_for(room->socket, app, ms);
    return rest > 0 ? APPPOOL_CLIENT_READY : wait_for_stream(room, app, ms);
}
