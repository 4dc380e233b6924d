/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/pump/suspend.h"

#include <apr_atomic.h>
#include <errno.h>
#include <fcntl.h>
#include <http_connection.h>
#include <http_core.h>
#include <http_log.h>
#include <http_protocol.h>
#include <http_request.h>
#include <mpm_common.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mod_apppool/pump/room.h"
#include "mod_apppool/pump/rehearsal.h"
#include "shm/lock/lock_token.h"

APLOG_USE_MODULE(apppool);

#define SLICE 250   /* ms between two looks at what is no socket */
#define NAP   10000 /* us, if the sockets have said what was known */
#define KEPT  8 /* pieces of memory of a connection that httpd keeps, at most */

static apppool_suspend_finish_t *finish_request;

/* Of this child. */
static const char *limit; /* what allows no more connections */
static apr_uint32_t limit_said;

/* @param missing what httpd has not done, or not so; NULL: all is well */
static void give_up(const conn_rec *c, const char *missing)
{
    if (!missing)
        return;
    ap_log_cerror(APLOG_MARK, APLOG_ERR, 0, c,
                  "apppool: this httpd is not as known (%s): WebSockets and "
                  "event streams of this child keep a worker each",
                  missing);
    apppool_pump_give_up();
}

/* ---- the end ---- */

/* httpd logs the request when the client has got the rest of it. */
static void finish(apppool_suspended_t *s, apppool_link_why_t why)
{
    request_rec *r = s->r;
    conn_rec *c = r->connection;
    int status = finish_request(r, why);

    s->r = NULL;
    if (status == OK || status == DONE)
        ap_finalize_request_protocol(r);
    else {
        r->status = HTTP_OK;
        ap_die(status, r);
    }
    c->keepalive = AP_CONN_CLOSE;
    ap_process_request_after_handler(r);
}

/* httpd gets the client's socket back. */
static void return_socket(apppool_suspended_t *s)
{
    while (dup3(s->wire.fd, s->client, O_CLOEXEC) < 0 && errno == EINTR)
        ;
}

/* Both sockets are still open under the numbers that the pump knows. */
static apppool_link_why_t take_link(apppool_suspended_t *s)
{
    apppool_link_why_t why;
    int wake = s->link->wake;

    apppool_pump_take(s->link);
    APPPOOL_WINDOW("taken");
    why = s->link->why;
    apppool_pump_remove(s->link);
    close(wake);
    s->link = NULL;
    return why;
}

/* A worker closes the connection, for whatever reason. It is about to flush and
 * to linger. */
static int before_close(conn_rec *c)
{
    apppool_suspended_t *s = apppool_wire_owner(c);
    apppool_link_why_t why;
    conn_state_e state;

    if (!s)
        return DECLINED;
    apppool_rehearsal_done(s, APPPOOL_REHEARSAL_CLOSED);
    give_up(c, apppool_rehearsal_leave(s));
    apppool_pump_take(s->link);
    if (s->link->why == APPPOOL_LINK_RENEWED)
        apppool_pump_step(s->link, 1); /* to say goodbye */
    why = take_link(s);
    if (why == APPPOOL_LINK_RENEWED) {
        /* There were too few workers, so it must not hold one now. */
        ap_log_cerror(APLOG_MARK, APLOG_INFO, 0, c,
                      "apppool: a WebSocket or an event stream ends: no worker "
                      "was free within Timeout, or the clock was set");
        why = APPPOOL_LINK_STOPPED;
    }
    return_socket(s);
    apppool_wire_unplug(&s->wire);
    state = c->cs->state;
    finish(s, why);
    c->cs->state = state; /* httpd counts by it */
    return OK;
}

/* httpd destroys the connection without a word. */
static apr_status_t cut(void *data)
{
    apppool_suspended_t *s = data;
    conn_rec *c = s->wire.c;

    if (!s->link)
        return APR_SUCCESS;
    give_up(c, apppool_rehearsal_leave(s));
    take_link(s);
    c->aborted = 1;
    finish(s, APPPOOL_LINK_STOPPED);
    apppool_wire_cut(&s->wire);
    return APR_SUCCESS;
}

/* This child of httpd was stopped. No other thread runs, and none waits. */
static void end_at_stop(apppool_link_t *link)
{
    apppool_suspended_t *s = link->ctx;
    conn_rec *c = s->r->connection;

    apppool_pump_take(link);
    s->step(s, 1);
    take_link(s);
    finish(s, APPPOOL_LINK_STOPPED);
    ap_shutdown_conn(c, 0);
    apppool_wire_cut(&s->wire);
}

/* ---- hooks of httpd ---- */

/* A worker has come. Does the connection stay, or is it to be closed? */
static int come_back(apppool_suspended_t *s, conn_rec *c)
{
    apppool_pump_take(s->link);
    APPPOOL_WINDOW("renewing");
    apppool_rehearsal_done(s, APPPOOL_REHEARSAL_WOKEN);
    if (s->link->why != APPPOOL_LINK_RENEWED)
        c->cs->state = CONN_STATE_LINGER;
    else {
        c->cs->state = CONN_STATE_ASYNC_WAITIO;
        c->cs->sense = CONN_SENSE_WANT_READ;
    }
    if (c->cs->state == CONN_STATE_LINGER || c->aborted)
        apppool_rehearsal_ending(s);
    return OK;
}

/* The handler of a request can only say that it is suspended. What httpd is to
 * do is said here: wait. So all other hooks run within this one. */
static int process_connection(conn_rec *c)
{
    static __thread const conn_rec *inside;
    apppool_suspended_t *s;
    const conn_rec *outside = inside;
    int status;

    if (c == inside || c->master || !c->cs)
        return DECLINED;
    s = apppool_wire_owner(c);
    if (s)
        return come_back(s, c);
    give_up(c, apppool_rehearsal_other());
    inside = c;
    status = ap_run_process_connection(c);
    inside = outside;
    s = apppool_wire_owner(c);
    if (!s)
        return status;
    if (c->cs->state == CONN_STATE_SUSPENDED) {
        c->cs->state = CONN_STATE_ASYNC_WAITIO;
        c->cs->sense = CONN_SENSE_WANT_READ;
        apppool_rehearsal_done(s, APPPOOL_REHEARSAL_RETURNED);
    }
    else
        give_up(c, apppool_rehearsal_leave(s));
    if (c->aborted) /* httpd closes it at once */
        apppool_rehearsal_ending(s);
    APPPOOL_WINDOW("waiting");
    return status;
}

/* With this, the worker's own part is over: it only tells the MPM to wait. */
static void suspend_connection(conn_rec *c, request_rec *r)
{
    apppool_suspended_t *s = apppool_wire_owner(c);

    (void)r;
    if (!s)
        return;
    if (c->cs->state != CONN_STATE_ASYNC_WAITIO)
        give_up(c, apppool_rehearsal_leave(s));
    if (apppool_rehearsal_done(s, APPPOOL_REHEARSAL_WAITS_ON))
        ap_log_cerror(APLOG_MARK, APLOG_DEBUG, 0, c,
                      "apppool: this httpd is as known: WebSockets and event "
                      "streams of this child hold no worker");
    else if (apppool_rehearsal_done(s, APPPOOL_REHEARSAL_WAITS))
        s->link->renew_at = 0; /* a worker is to come soon */
    apppool_pump_give(s->link);
    APPPOOL_WINDOW("given");
}

void apppool_suspend_register(apppool_suspend_finish_t *its)
{
    finish_request = its;
    apppool_wire_register();
    ap_hook_process_connection(process_connection, NULL, NULL,
                               APR_HOOK_REALLY_FIRST);
    ap_hook_suspend_connection(suspend_connection, NULL, NULL,
                               APR_HOOK_REALLY_LAST);
    ap_hook_pre_close_connection(before_close, NULL, NULL,
                                 APR_HOOK_REALLY_FIRST);
}

/* ---- a child ---- */

static apr_status_t end_child(void *data)
{
    (void)data;
    apppool_pump_end(end_at_stop);
    return APR_SUCCESS;
}

void apppool_suspend_begin(apr_pool_t *pchild, server_rec *s)
{
    uint32_t max = apppool_room_most(&limit);
    apr_status_t rv;
    int threads = 0;

    ap_mpm_query(AP_MPMQ_MAX_THREADS, &threads);
    rv = apppool_rehearsal_begin(pchild, 2 * (uint32_t)threads);
    if (rv == APR_SUCCESS && max > 0)
        rv = apppool_pump_begin(pchild, max);
    if (rv != APR_SUCCESS)
        ap_log_error(APLOG_MARK, APLOG_ERR, rv, s,
                     "apppool: no pump could be started: WebSockets and event "
                     "streams of this child keep a worker each");
    apr_pool_pre_cleanup_register(pchild, NULL, end_child);
}

/* Otherwise httpd's listener would find thousands of them, and no worker that
 * takes one. It waits half a second for each. */
void apppool_suspend_leave(int graceful)
{
    apppool_pump_leave(graceful);
}

/* ---- a request ---- */

static apr_status_t unreserve(void *data)
{
    (void)data;
    apppool_pump_unreserve();
    return APR_SUCCESS;
}

/* Once in the life of a child. */
static void say_full(const request_rec *r)
{
    uint32_t n = apppool_pump_full();

    if (n > 0 && apr_atomic_cas32(&limit_said, 1, 0) == 0)
        ap_log_rerror(APLOG_MARK, APLOG_WARNING, 0, r,
                      "apppool: %u WebSockets and event streams of this child "
                      "of httpd hold no worker, as many as %s allows: others "
                      "keep a worker each",
                      n, limit);
}

int apppool_suspend_reserve(request_rec *r)
{
    if (!apppool_room_is_suitable(r))
        return 0;
    if (!apppool_pump_reserve()) {
        say_full(r);
        return 0;
    }
    apr_pool_cleanup_register(r->pool, NULL, unreserve, apr_pool_cleanup_null);
    return 1;
}

/* httpd keeps memory that a request has freed, for the next one of its
 * connection. There is none. So what is free is taken, and freed at once. */
static void return_memory(const conn_rec *c)
{
    apr_allocator_t *allocator = apr_pool_allocator_get(c->pool);
    apr_memnode_t *nodes = NULL, *node;
    int i;

    apr_allocator_max_free_set(allocator, 1); /* 0: no limit */
    for (i = 0; i < KEPT; i++) {
        node = apr_allocator_alloc(allocator, 1);
        if (!node)
            break;
        node->next = nodes;
        nodes = node;
    }
    if (nodes)
        apr_allocator_free(allocator, nodes);
    apr_allocator_max_free_set(allocator, ap_max_mem_free);
}

/* The eventfd takes the number of the client's socket. httpd may close that
 * number at any time, so the pump has another one.
 * @return -1: see errno */
static int exchange_socket(apppool_suspended_t *s, apppool_link_t *set)
{
    set->client = fcntl(s->client, F_DUPFD_CLOEXEC, 0);
    set->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    s->wire.fd = set->client;
    if (set->client < 0 || set->wake < 0)
        return -1;
    s->link = apppool_pump_add(set);
    return s->link ? 0 : -1;
}

/* Where the error means that a limit was met. */
static const char *limit_of(int error)
{
    return error == EMFILE   ? ": the limit is ulimit -n"
           : error == ENFILE ? ": the limit is /proc/sys/fs/file-max"
           : error == ENOSPC
               ? ": the limit is /proc/sys/fs/epoll/max_user_watches"
               : "";
}

/* httpd's timeout of a connection that waits may be that of either. */
static int64_t renewal_of(const request_rec *r)
{
    int64_t one = r->server->timeout,
            other = r->connection->base_server->timeout;

    return (one < other ? one : other) / 2;
}

static apppool_step_t step(apppool_link_t *link, int stops)
{
    apppool_suspended_t *s = link->ctx;

    return s->step(s, stops);
}

int apppool_suspend(apppool_suspended_t *s, request_rec *r)
{
    conn_rec *c = r->connection;
    apppool_link_t set = {.app = s->app,
                          .silence = s->silence,
                          .renewal = renewal_of(r),
                          .step = step,
                          .ctx = s};

    s->r = r;
    if (exchange_socket(s, &set) != 0) {
        /* httpd closes sockets when it stops. */
        ap_log_rerror(APLOG_MARK, errno == EBADF ? APLOG_DEBUG : APLOG_ERR,
                      errno, r, "apppool: a connection keeps its worker%s",
                      limit_of(errno));
        if (set.client >= 0)
            close(set.client);
        if (set.wake >= 0)
            close(set.wake);
        return 0;
    }
    /* It would watch what is no request any more. */
    ap_remove_input_filter_byhandle(c->input_filters, "reqtimeout");
    apppool_rehearsal_take(s);
    c->keepalive = AP_CONN_CLOSE;
    apppool_wire_plug(&s->wire, r, set.client, s);
    apr_pool_pre_cleanup_register(c->pool, s, cut);
    return_memory(c);
    APPPOOL_WINDOW("plugged");
    while (dup3(set.wake, s->client, O_CLOEXEC) < 0 && errno == EINTR)
        ;
    return 1;
}

/* ---- without the pump ---- */

/* What the sockets say is no news, so a step may find nothing to do.
 * @return 1: they say something */
static int look_at_sockets(apppool_suspended_t *s)
{
    struct pollfd fds[] = {{s->wire.fd, POLLIN, 0}, {s->app, POLLIN, 0}};

    if (!apppool_pending_is_empty(&s->wire.pending))
        fds[0].events |= POLLOUT;
    if (poll(fds, 2, SLICE) <= 0)
        return 0;
    s->link->client_seen |= (unsigned short)fds[0].revents;
    s->link->app_seen |= (unsigned short)fds[1].revents;
    return 1;
}

/* @param stopped us of apl_now(), when the child was; or 0 */
static int is_too_late(const apppool_suspended_t *s, int64_t stopped)
{
    int64_t now = apl_now();

    return (s->silence >= 0 && now - s->link->moved >= s->silence) ||
           (stopped != 0 && now - stopped >= APPPOOL_PUMP_FAREWELL);
}

void apppool_suspend_stay(apppool_suspended_t *s, request_rec *r)
{
    apppool_link_t link = {.step = step, .ctx = s, .moved = apl_now()};
    apppool_step_t said = APPPOOL_STEP_AGAIN;
    int64_t moved, stopped = 0;
    int has_news = 1;

    s->r = r;
    s->link = &link;
    ap_remove_input_filter_byhandle(r->connection->input_filters, "reqtimeout");
    apppool_wire_plug(&s->wire, r, s->client, NULL);
    while (said != APPPOOL_STEP_ENDS && !is_too_late(s, stopped)) {
        if (said == APPPOOL_STEP_WAITS)
            has_news = look_at_sockets(s);
        moved = link.moved;
        if (stopped == 0 && apppool_pump_has_left())
            stopped = apl_now();
        said = apppool_pump_step(&link, stopped != 0);
        if (said == APPPOOL_STEP_WAITS && link.moved == moved && has_news)
            apr_sleep(NAP);
    }
    s->link = NULL;
    s->wire.fd = -1; /* it is httpd's own */
    apppool_wire_unplug(&s->wire);
}
