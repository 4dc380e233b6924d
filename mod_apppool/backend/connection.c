/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/connection.h"

#include <ap_mpm.h>
#include <apr_portable.h>
#include <apr_strings.h>
#include <apr_thread_mutex.h>
#include <http_config.h>

#include "mod_apppool/backend/connect.h"
#include "mod_apppool/body/streaming.h"
#include "mod_apppool/backend/proxy_api.h"
#include "mod_apppool/backend/connection_filter.h"
#include "shm/format/format.h"
#include "shm/lock/lock_token.h"
#include "spawner/shared/contract.h"

#define SCHEME     "apppool"

/* An idle connection that is older may just be being closed by the app. */
#define KEEP_LIMIT 1000000 /* us */

struct apppool_channel_t {
    apppool_channel_t *next; /* in the list of idle ones */
    uint64_t id;             /* the process it is connected to; 0: none */
    int64_t used;            /* when its connection became idle */
    apr_socket_t *sock;      /* of that connection; NULL: mod_proxy is done */
    apppool_tap_t tap;       /* has the worker */
};

/* Per child. */
static struct {
    apr_pool_t *pool;
    apr_thread_mutex_t *mutex;
    apppool_channel_t *idle;
    int reaping;  /* those that were idle for too long will be looked for */
    int unreaped; /* the MPM cannot call us: nobody would; read by anybody */
} channels;

/* ---- channels ---- */

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
    channels.reaping = channels.unreaped = 0;
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
    ch->tap.worker = w;
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

static proxy_conn_rec *take_conn(apppool_channel_t *ch, server_rec *s)
{
    proxy_conn_rec *conn = NULL;

    if (apppool_proxy.ap_proxy_acquire_connection(SCHEME, &conn, ch->tap.worker,
                                                  s) != OK)
        return NULL;
    return conn;
}

/* A connection record as new: mod_proxy gives its memory back. */
static proxy_conn_rec *renew_conn(apppool_channel_t *ch, proxy_conn_rec *conn,
                                  server_rec *s)
{
    ch->id = 0;
    ch->tap.worker->s->is_address_reusable = 0;
    apppool_proxy.ap_proxy_release_connection(SCHEME, conn, s);
    return take_conn(ch, s);
}

/* Nobody will use it again. */
static void close_conn(apppool_channel_t *ch)
{
    proxy_conn_rec *conn = take_conn(ch, ap_server_conf);

    ch->id = 0;
    ch->tap.worker->s->is_address_reusable = 0;
    if (conn)
        apppool_proxy.ap_proxy_release_connection(SCHEME, conn, ap_server_conf);
}

/* ---- idle ones ---- */

static void put_idle(apppool_channel_t *ch)
{
    ch->next = channels.idle;
    channels.idle = ch;
}

/* Take those out of the list that are connected, and have been idle for too
 * long; the mutex is held. */
static apppool_channel_t *take_stale(int64_t now)
{
    apppool_channel_t **at = &channels.idle, *ch, *stale = NULL;

    while ((ch = *at)) {
        if (ch->id == 0 || now - ch->used < KEEP_LIMIT) {
            at = &ch->next;
            continue;
        }
        *at = ch->next;
        ch->next = stale;
        stale = ch;
    }
    return stale;
}

static void reap(void *data);

/* The mutex is held. @return 0: nobody would reap */
static int reap_later(void)
{
    if (!channels.reaping)
        channels.reaping = ap_mpm_register_timed_callback(KEEP_LIMIT, reap,
                                                          NULL) == APR_SUCCESS;
    __atomic_store_n(&channels.unreaped, !channels.reaping, __ATOMIC_RELAXED);
    return channels.reaping;
}

/* An app that is to end may wait for its clients, us among them. */
static void reap(void *data)
{
    apppool_channel_t *stale, *ch;

    (void)data;
    apr_thread_mutex_lock(channels.mutex);
    stale = take_stale(apl_now());
    apr_thread_mutex_unlock(channels.mutex);
    for (ch = stale; ch; ch = ch->next)
        close_conn(ch);
    apr_thread_mutex_lock(channels.mutex);
    channels.reaping = 0;
    while ((ch = stale)) {
        stale = ch->next;
        put_idle(ch);
    }
    for (ch = channels.idle; ch; ch = ch->next)
        if (ch->id != 0)
            reap_later();
    apr_thread_mutex_unlock(channels.mutex);
}

void apppool_channel_give(apppool_channel_t *ch)
{
    const proxy_conn_rec *conn = ch->tap.worker->cp->conn;

    ch->tap.r = NULL;
    ch->used = apl_now();
    if (!conn || !conn->sock || ch->tap.deaf)
        ch->id = 0;
    apr_thread_mutex_lock(channels.mutex);
    if (ch->id != 0 && !reap_later())
        close_conn(ch);
    put_idle(ch);
    apr_thread_mutex_unlock(channels.mutex);
}

/* ---- connecting ---- */

/* To what may the app upgrade? Not to what httpd negotiates by itself: an app
 * that speaks h2c would be reached past all that is configured for it here. */
static const char *upgrades(const request_rec *r)
{
    return apr_table_get(r->headers_in, "Upgrade") && !apppool_lasting_asks(r)
               ? ""
               : "*";
}

static void fit_worker(apppool_channel_t *ch, const request_rec *r,
                       const apppool_target_t *target)
{
    proxy_worker_shared *s = ch->tap.worker->s;
    int keeps =
        target->keep && !__atomic_load_n(&channels.unreaped, __ATOMIC_RELAXED);

    /* A name for mod_proxy to tell connections by. It is no path, so that it
     * does not connect by itself, where we would not see what is sent. */
    apr_snprintf(s->uds_path, sizeof s->uds_path, "apppool-" CONTRACT_ID_FMT,
                 target->id);
    ch->tap.http = target->wire.protocol == APL_HTTP;
    ch->tap.local = target->wire.listen != APL_LISTEN_TCP;
    s->is_address_reusable = keeps != 0;
    s->disablereuse = !keeps;
    s->disablereuse_set = 1;
    s->timeout = target->timeout;
    s->timeout_set = 1;
    s->flush_packets = flush_auto; /* fcgi; the others do so by themselves */
    apr_cpystrn(s->upgrade, upgrades(r), sizeof s->upgrade);
}

/* The app may close it at this very moment: then the request is sent again, if
 * that may be. */
static int usable(apppool_channel_t *ch, proxy_conn_rec *conn,
                  const request_rec *r, const apppool_target_t *target)
{
    return ch->id == target->id && conn->connection &&
           apl_now() - ch->used < KEEP_LIMIT &&
           apppool_tap_may_repeat(r, target->wire.listen != APL_LISTEN_TCP) &&
           apppool_proxy.ap_proxy_check_connection(SCHEME, conn, r->server, 0,
                                                   PROXY_CHECK_CONN_EMPTY) ==
               APR_SUCCESS;
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
    apppool_tap_put(&ch->tap, conn->connection);
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
    int reused;

    if (!conn)
        return APR_EGENERAL;
    ch->tap.r = NULL;
    reused = usable(ch, conn, r, target);
    if (!reused) {
        conn = renew_conn(ch, conn, s);
        if (!conn)
            return APR_EGENERAL;
    }
    fit_worker(ch, r, target);
    if (reused)
        apr_socket_timeout_set(conn->sock, target->timeout);
    else
        rv = connect_new(ch, conn, r, target, deadline);
    /* The scheme handler takes exactly this one. */
    ch->tap.worker->cp->conn = conn;
    ch->sock = conn->sock;
    return rv;
}

void apppool_channel_patience(const apppool_channel_t *ch,
                              apr_interval_time_t timeout)
{
    if (ch->sock)
        apr_socket_timeout_set(ch->sock, timeout);
}

int apppool_channel_descriptor(const apppool_channel_t *ch)
{
    apr_os_sock_t fd = -1;

    apr_os_sock_get(&fd, ch->sock);
    return fd;
}

const apppool_tap_t *apppool_channel_tap(const apppool_channel_t *ch)
{
    return &ch->tap;
}

int apppool_channel_run(apppool_channel_t *ch, request_rec *r, const char *url)
{
    int status;

    apppool_tap_begin(&ch->tap, r);
    status = apppool_proxy.proxy_run_scheme_handler(
        r, ch->tap.worker, apppool_proxy_conf(r->server),
        apr_pstrdup(r->pool, url), NULL, 0);
    ch->sock = NULL;
    apppool_tap_end(&ch->tap);
    return status;
}
