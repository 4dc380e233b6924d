/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/channel.h"

#include <apr_portable.h>
#include <apr_strings.h>
#include <apr_thread_mutex.h>
#include <http_config.h>
#include <http_log.h>
#include <util_filter.h>

#include "mod_apppool/dial.h"
#include "mod_apppool/proxy_api.h"
#include "shm/format.h"
#include "shm/held.h"
#include "spawner/contract.h"

APLOG_USE_MODULE(apppool);

#define SCHEME     "apppool"

/* An idle connection that is older may just be being closed by the app. */
#define KEEP_LIMIT 1000000 /* us */

struct apppool_channel_t {
    apppool_channel_t *next; /* in the list of idle ones */
    proxy_worker *worker;
    uint64_t id;          /* the process it is connected to; 0: none */
    int64_t used;         /* when its connection became idle */
    apr_off_t sent, read; /* bytes, before this request */
    request_rec *r;       /* the request it has, or NULL */
    int reused;
    int local; /* over a Unix socket */
    int http;
    /* What the filters have seen of this request. */
    int unwritten, answered;
    int deaf; /* it has hung up, but may have answered before */
    int ended;
    apr_status_t error;
};

/* Per child. */
static struct {
    apr_pool_t *pool;
    apr_thread_mutex_t *mutex;
    apppool_channel_t *idle;
} channels;

static ap_filter_rec_t *wire_input, *wire_output;

/* ---- what the app sends ---- */

/* May the request be sent again when nobody has read it? With a body, part of
 * it may have been acted upon. A reset of a TCP connection says less than one
 * of a Unix socket: the app may have asked for it. */
static int repeatable(const apppool_channel_t *ch)
{
    const request_rec *r = ch->r;

    if (ap_request_has_body((request_rec *)r))
        return 0;
    return ch->local || r->method_number == M_GET ||
           r->method_number == M_OPTIONS;
}

/* mod_proxy is about to complain of what will be tried again. */
static void silence(request_rec *r)
{
    static const char *const speakers[] = {"mod_proxy.c", "mod_proxy_http.c"};
    struct ap_logconf *quiet;
    size_t i;

    quiet = ap_new_log_config(r->pool, r->log               ? r->log
                                       : r->connection->log ? r->connection->log
                                                            : &r->server->log);
    for (i = 0; i < sizeof speakers / sizeof *speakers; i++) {
        const module *m = ap_find_linked_module(speakers[i]);

        if (m && !APLOG_R_MODULE_IS_LEVEL(r, m->module_index, APLOG_DEBUG))
            ap_set_module_loglevel(r->pool, quiet, m->module_index, APLOG_CRIT);
    }
    r->log = quiet;
}

/* The connection broke before anything was sent. mod_proxy is kept from
 * connecting by itself: to a worker in error it does not. */
static void give_up(apppool_channel_t *ch)
{
    ch->worker->s->status |= PROXY_WORKER_IN_ERROR;
    silence(ch->r);
}

/* An app may answer without reading the body, and hang up: 413, say. What it
 * has not read makes that a reset, and not the plain end that it meant. */
static int hung_up(apr_status_t rv)
{
    return APR_STATUS_IS_EPIPE(rv) || APR_STATUS_IS_ECONNRESET(rv);
}

/* mod_proxy_http takes whatever begins otherwise for HTTP/0.9, and hands it to
 * the client as a page. A line without anything may go before. */
static int is_http(apr_bucket_brigade *bb)
{
    char begin[5] = "";
    apr_size_t n = sizeof begin;

    return apr_brigade_flatten(bb, begin, &n) == APR_SUCCESS &&
           (*begin == '\r' || *begin == '\n' || !memcmp(begin, "HTTP/", n));
}

static apr_status_t wire_in(ap_filter_t *f, apr_bucket_brigade *bb,
                            ap_input_mode_t mode, apr_read_type_e block,
                            apr_off_t bytes)
{
    apppool_channel_t *ch = f->ctx;
    apr_status_t rv = ap_get_brigade(f->next, bb, mode, block, bytes);

    if (!ch->r)
        return rv;
    if (mode == AP_MODE_SPECULATIVE) {
        if (rv != APR_SUCCESS && !APR_STATUS_IS_EAGAIN(rv))
            give_up(ch);
        return rv;
    }
    if (ch->deaf && ch->answered && hung_up(rv)) {
        APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_eos_create(bb->bucket_alloc));
        return APR_SUCCESS;
    }
    if (rv == APR_SUCCESS && !APR_BRIGADE_EMPTY(bb)) {
        if (!ch->answered && ch->http && !is_http(bb))
            rv = APR_EGENERAL;
        ch->answered = 1;
        ch->ended = APR_BUCKET_IS_EOS(APR_BRIGADE_LAST(bb));
    }
    else if (rv != APR_SUCCESS && !APR_STATUS_IS_EAGAIN(rv)) {
        ch->error = rv;
        if (!ch->answered && APR_STATUS_IS_ECONNRESET(rv) && repeatable(ch))
            silence(ch->r);
    }
    return rv;
}

/* mod_proxy reads an answer only when it could send all of the request. */
static apr_status_t wire_out(ap_filter_t *f, apr_bucket_brigade *bb)
{
    apppool_channel_t *ch = f->ctx;
    apr_status_t rv = ch->deaf ? APR_SUCCESS : ap_pass_brigade(f->next, bb);

    if (rv != APR_SUCCESS && ch->r) {
        ch->unwritten = 1;
        if (repeatable(ch))
            silence(ch->r);
        else if (hung_up(rv))
            ch->deaf = 1;
    }
    if (!ch->deaf)
        return rv;
    apr_brigade_cleanup(bb);
    return APR_SUCCESS;
}

int apppool_channel_ended(const apppool_channel_t *ch)
{
    return ch->ended || APR_STATUS_IS_EOF(ch->error);
}

apppool_fate_t apppool_channel_fate(const apppool_channel_t *ch)
{
    int answered = ch->answered || ch->worker->s->read != ch->read;

    if (ch->worker->s->transferred == ch->sent && !answered)
        return APPPOOL_UNSENT;
    if (answered || !repeatable(ch))
        return APPPOOL_HEARD;
    return ch->unwritten || APR_STATUS_IS_ECONNRESET(ch->error) ? APPPOOL_UNREAD
                                                                : APPPOOL_HEARD;
}

/* ---- channels ---- */

void apppool_channels_register(void)
{
    wire_input = ap_register_input_filter("APPPOOL_WIRE", wire_in, NULL,
                                          AP_FTYPE_CONNECTION);
    wire_output = ap_register_output_filter("APPPOOL_WIRE", wire_out, NULL,
                                            AP_FTYPE_CONNECTION);
}

void apppool_channels_init(apr_pool_t *pchild)
{
    apr_allocator_t *allocator;
    apr_thread_mutex_t *mutex;

    /* mod_proxy's pools share this allocator over threads. */
    apr_allocator_create(&allocator);
    apr_thread_mutex_create(&mutex, APR_THREAD_MUTEX_DEFAULT, pchild);
    apr_allocator_mutex_set(allocator, mutex);
    apr_pool_create_ex(&channels.pool, pchild, NULL, allocator);
    apr_allocator_owner_set(allocator, channels.pool);
    apr_pool_tag(channels.pool, "apppool_channels");
    apr_thread_mutex_create(&channels.mutex, APR_THREAD_MUTEX_DEFAULT, pchild);
    channels.idle = NULL;
}

/* One connection, no list of mod_proxy's; the mutex is held. */
static apppool_channel_t *make_channel(server_rec *s)
{
    apppool_channel_t *ch = apr_pcalloc(channels.pool, sizeof *ch);
    proxy_worker *w;

    if (apppool_proxy.ap_proxy_define_worker(channels.pool, &w, NULL, NULL,
                                             "http://localhost", 0))
        return NULL;
    w->s->status |= PROXY_WORKER_INITIALIZED | PROXY_WORKER_IGNORE_ERRORS;
    w->s->hmax = w->s->smax = w->s->min = 0;
    ch->worker = w;
    return apppool_proxy.ap_proxy_initialize_worker(w, s, channels.pool) ==
                   APR_SUCCESS
               ? ch
               : NULL;
}

apppool_channel_t *apppool_channel_take(server_rec *s, uint64_t id)
{
    apppool_channel_t **at, **pick = NULL, *ch;

    apr_thread_mutex_lock(channels.mutex);
    for (at = &channels.idle; *at; at = &(*at)->next) {
        if (!pick || (*at)->id == id)
            pick = at;
        if ((*at)->id == id)
            break;
    }
    if (pick) {
        ch = *pick;
        *pick = ch->next;
    }
    else
        ch = make_channel(s);
    apr_thread_mutex_unlock(channels.mutex);
    return ch;
}

void apppool_channel_give(apppool_channel_t *ch)
{
    const proxy_conn_rec *conn = ch->worker->cp->conn;

    ch->r = NULL;
    ch->used = apl_now();
    if (!conn || !conn->sock || ch->deaf)
        ch->id = 0;
    apr_thread_mutex_lock(channels.mutex);
    ch->next = channels.idle;
    channels.idle = ch;
    apr_thread_mutex_unlock(channels.mutex);
}

/* ---- connecting ---- */

static proxy_conn_rec *take_conn(apppool_channel_t *ch, server_rec *s)
{
    proxy_conn_rec *conn = NULL;

    if (apppool_proxy.ap_proxy_acquire_connection(SCHEME, &conn, ch->worker,
                                                  s) != OK)
        return NULL;
    return conn;
}

/* A connection record as new: mod_proxy gives its memory back. */
static proxy_conn_rec *renew_conn(apppool_channel_t *ch, proxy_conn_rec *conn,
                                  server_rec *s)
{
    ch->id = 0;
    ch->worker->s->is_address_reusable = 0;
    apppool_proxy.ap_proxy_release_connection(SCHEME, conn, s);
    return take_conn(ch, s);
}

/* To what may the app upgrade? Not to what httpd negotiates by itself: an app
 * that speaks h2c would be reached past all that is configured for it here. */
static const char *upgrades(const request_rec *r)
{
    const char *wish = apr_table_get(r->headers_in, "Upgrade");

    return wish && (ap_strcasestr(wish, "h2c") || ap_strcasestr(wish, "tls/") ||
                    ap_strcasestr(wish, "http/"))
               ? ""
               : "*";
}

static void fit_worker(apppool_channel_t *ch, const request_rec *r,
                       const apppool_target_t *target)
{
    proxy_worker_shared *s = ch->worker->s;

    /* A name for mod_proxy to tell connections by. It is no path, so that it
     * does not connect by itself, where we would not see what is sent. */
    apr_snprintf(s->uds_path, sizeof s->uds_path, "apppool-" CONTRACT_ID_FMT,
                 target->id);
    ch->http = target->wire.protocol == APL_HTTP;
    ch->local = target->wire.listen != APL_LISTEN_TCP;
    s->is_address_reusable = target->keep != 0;
    s->disablereuse = !target->keep;
    s->disablereuse_set = 1;
    s->timeout = target->timeout;
    s->timeout_set = 1;
    s->flush_packets = flush_auto; /* fcgi; the others do so by themselves */
    apr_cpystrn(s->upgrade, upgrades(r), sizeof s->upgrade);
}

static int usable(apppool_channel_t *ch, proxy_conn_rec *conn,
                  const apppool_target_t *target, server_rec *s)
{
    return ch->id == target->id && conn->connection &&
           apl_now() - ch->used < KEEP_LIMIT &&
           apppool_proxy.ap_proxy_check_connection(
               SCHEME, conn, s, 0, PROXY_CHECK_CONN_EMPTY) == APR_SUCCESS;
}

static apr_status_t connect_new(apppool_channel_t *ch, proxy_conn_rec *conn,
                                request_rec *r, const apppool_target_t *target,
                                int64_t deadline)
{
    apr_status_t rv = apppool_dial(&conn->sock, target, deadline, conn->scpool);

    if (rv != APR_SUCCESS) {
        conn->sock = NULL;
        return rv;
    }
    apr_socket_timeout_set(conn->sock, target->timeout);
    if (apppool_proxy.ap_proxy_connection_create_ex(SCHEME, conn, r) != OK)
        return APR_EGENERAL;
    ap_add_input_filter_handle(wire_input, ch, NULL, conn->connection);
    ap_add_output_filter_handle(wire_output, ch, NULL, conn->connection);
    ch->id = target->id;
    return APR_SUCCESS;
}

apr_status_t apppool_channel_connect(apppool_channel_t *ch, request_rec *r,
                                     const apppool_target_t *target,
                                     int64_t deadline)
{
    server_rec *s = r->server;
    proxy_conn_rec *conn = take_conn(ch, s);
    apr_status_t rv = APR_SUCCESS;

    if (!conn)
        return APR_EGENERAL;
    ch->r = NULL;
    ch->reused = usable(ch, conn, target, s);
    if (!ch->reused) {
        conn = renew_conn(ch, conn, s);
        if (!conn)
            return APR_EGENERAL;
    }
    fit_worker(ch, r, target);
    if (ch->reused)
        apr_socket_timeout_set(conn->sock, target->timeout);
    else
        rv = connect_new(ch, conn, r, target, deadline);
    /* The scheme handler takes exactly this one. */
    ch->worker->cp->conn = conn;
    return rv;
}

int apppool_channel_descriptor(const apppool_channel_t *ch)
{
    apr_os_sock_t fd = -1;

    apr_os_sock_get(&fd, ch->worker->cp->conn->sock);
    return fd;
}

int apppool_channel_run(apppool_channel_t *ch, request_rec *r, const char *url)
{
    const struct ap_logconf *log = r->log;
    int status;

    ch->r = r;
    ch->unwritten = ch->answered = ch->deaf = ch->ended = 0;
    ch->error = APR_SUCCESS;
    ch->sent = ch->worker->s->transferred;
    ch->read = ch->worker->s->read;
    status = apppool_proxy.proxy_run_scheme_handler(
        r, ch->worker, apppool_proxy_conf(r->server), apr_pstrdup(r->pool, url),
        NULL, 0);
    ch->worker->s->status &= ~(unsigned)PROXY_WORKER_IN_ERROR;
    /* As mod_proxy_http notes it, and the others do not. */
    if (!ch->answered && APR_STATUS_IS_TIMEUP(ch->error))
        apr_table_setn(r->notes, "proxy_timedout", "1");
    r->log = log;
    return status;
}
