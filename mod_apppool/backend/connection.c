/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/connection.h"

#include <ap_mpm.h>
#include <apr_portable.h>
#include <apr_strings.h>
#include <apr_thread_mutex.h>
#include <http_config.h>

#include "mod_apppool/backend/connect.h"
#include "mod_apppool/backend/proxy_api.h"
#include "mod_apppool/backend/connection_filter.h"
#include "shm/format/format.h"
#include "shm/lock/lock_token.h"
#include "spawner/shared/contract.h"

#define SCHEME     "apppool"

/* The app may be about to close an idle connection that is older. */
#define KEEP_LIMIT 1000000 /* us */

struct apppool_connection_t {
    apppool_connection_t *next; /* in the list of idle ones */
    uint64_t id;                /* the process it is connected to; 0: none */
    int64_t used;               /* when its connection became idle */
    apr_socket_t *sock; /* of that connection; NULL: mod_proxy is done */
    apppool_connection_filter_t filter; /* has the worker */
};

/* Per child. */
static struct {
    apr_pool_t *pool;
    apr_thread_mutex_t *mutex;
    apppool_connection_t *idle;
    int is_scheduled; /* close_expired() will be called */
    int no_callback;  /* the MPM cannot call it; read by all threads */
} connections;

/* ---- take one ---- */

void apppool_connection_init(apr_pool_t *pchild)
{
    apr_allocator_t *allocator;
    apr_thread_mutex_t *mutex;

    /* mod_proxy's pools share this allocator over threads. */
    apr_allocator_create(&allocator);
    apr_thread_mutex_create(&mutex, APR_THREAD_MUTEX_DEFAULT, pchild);
    apr_allocator_mutex_set(allocator, mutex);
    apr_pool_create_ex(&connections.pool, pchild, NULL, allocator);
    apr_allocator_owner_set(allocator, connections.pool);
    apr_pool_tag(connections.pool, "apppool_channels");
    apr_thread_mutex_create(&connections.mutex, APR_THREAD_MUTEX_DEFAULT,
                            pchild);
    connections.idle = NULL;
    connections.is_scheduled = connections.no_callback = 0;
}

/* A worker for one connection, in no list of mod_proxy. The mutex is held. */
static apppool_connection_t *make_connection(server_rec *s)
{
    apppool_connection_t *c = apr_pcalloc(connections.pool, sizeof *c);
    proxy_worker *w;

    if (apppool_proxy.ap_proxy_define_worker(connections.pool, &w, NULL, NULL,
                                             "http://localhost", 0))
        return NULL;
    w->s->status |= PROXY_WORKER_INITIALIZED | PROXY_WORKER_IGNORE_ERRORS;
    w->s->hmax = w->s->smax = w->s->min = 0;
    c->filter.worker = w;
    return apppool_proxy.ap_proxy_initialize_worker(w, s, connections.pool) ==
                   APR_SUCCESS
               ? c
               : NULL;
}

apppool_connection_t *apppool_connection_take(server_rec *s, uint64_t id)
{
    apppool_connection_t **at, **pick = NULL, *c;

    apr_thread_mutex_lock(connections.mutex);
    for (at = &connections.idle; *at; at = &(*at)->next) {
        if (!pick || (*at)->id == id)
            pick = at;
        if ((*at)->id == id)
            break;
    }
    if (pick) {
        c = *pick;
        *pick = c->next;
    }
    else
        c = make_connection(s);
    apr_thread_mutex_unlock(connections.mutex);
    return c;
}

static proxy_conn_rec *take_conn(apppool_connection_t *c, server_rec *s)
{
    proxy_conn_rec *conn = NULL;

    if (apppool_proxy.ap_proxy_acquire_connection(SCHEME, &conn,
                                                  c->filter.worker, s) != OK)
        return NULL;
    return conn;
}

/* Renew the connection record: mod_proxy gives its memory back. */
static proxy_conn_rec *renew_conn(apppool_connection_t *c, proxy_conn_rec *conn,
                                  server_rec *s)
{
    c->id = 0;
    c->filter.worker->s->is_address_reusable = 0;
    apppool_proxy.ap_proxy_release_connection(SCHEME, conn, s);
    return take_conn(c, s);
}

/* Close it for good. */
static void close_conn(apppool_connection_t *c)
{
    proxy_conn_rec *conn = take_conn(c, ap_server_conf);

    c->id = 0;
    c->filter.worker->s->is_address_reusable = 0;
    if (conn)
        apppool_proxy.ap_proxy_release_connection(SCHEME, conn, ap_server_conf);
}

/* ---- idle ones ---- */

static void put_idle(apppool_connection_t *c)
{
    c->next = connections.idle;
    connections.idle = c;
}

/* Remove from the list those that are connected and have been idle for too
 * long. The mutex is held. */
static apppool_connection_t *take_expired(int64_t now)
{
    apppool_connection_t **at = &connections.idle, *c, *expired = NULL;

    while ((c = *at)) {
        if (c->id == 0 || now - c->used < KEEP_LIMIT) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        c->next = expired;
        expired = c;
    }
    return expired;
}

static void close_expired(void *data);

/* The mutex is held. @return 0: the MPM cannot call us */
static int schedule_close(void)
{
    if (!connections.is_scheduled)
        connections.is_scheduled =
            ap_mpm_register_timed_callback(KEEP_LIMIT, close_expired, NULL) ==
            APR_SUCCESS;
    __atomic_store_n(&connections.no_callback, !connections.is_scheduled,
                     __ATOMIC_RELAXED);
    return connections.is_scheduled;
}

/* An app that is told to stop may wait until its clients have closed their
 * connections. */
static void close_expired(void *data)
{
    apppool_connection_t *expired, *c;

    (void)data;
    apr_thread_mutex_lock(connections.mutex);
    expired = take_expired(apl_now());
    apr_thread_mutex_unlock(connections.mutex);
    for (c = expired; c; c = c->next)
        close_conn(c);
    apr_thread_mutex_lock(connections.mutex);
    connections.is_scheduled = 0;
    while ((c = expired)) {
        expired = c->next;
        put_idle(c);
    }
    for (c = connections.idle; c; c = c->next)
        if (c->id != 0)
            schedule_close();
    apr_thread_mutex_unlock(connections.mutex);
}

void apppool_connection_give(apppool_connection_t *c)
{
    const proxy_conn_rec *conn = c->filter.worker->cp->conn;

    c->filter.r = NULL;
    c->used = apl_now();
    if (!conn || !conn->sock || c->filter.hung_up)
        c->id = 0;
    apr_thread_mutex_lock(connections.mutex);
    if (c->id != 0 && !schedule_close())
        close_conn(c);
    put_idle(c);
    apr_thread_mutex_unlock(connections.mutex);
}

/* ---- connecting ---- */

static void set_up_worker(apppool_connection_t *c,
                          const apppool_endpoint_t *endpoint)
{
    proxy_worker_shared *s = c->filter.worker->s;
    int keeps = endpoint->keep &&
                !__atomic_load_n(&connections.no_callback, __ATOMIC_RELAXED);

    /* mod_proxy tells connections apart by this name. It is not a path, so that
     * mod_proxy cannot connect by itself, without our filter. */
    apr_snprintf(s->uds_path, sizeof s->uds_path, "apppool-" CONTRACT_ID_FMT,
                 endpoint->id);
    c->filter.http = endpoint->wire.protocol == APL_HTTP;
    c->filter.local = endpoint->wire.listen != APL_LISTEN_TCP;
    s->is_address_reusable = keeps != 0;
    s->disablereuse = !keeps;
    s->disablereuse_set = 1;
    s->timeout = endpoint->timeout;
    s->timeout_set = 1;
    s->flush_packets = flush_auto; /* for fcgi; the others flush anyway */
    apr_cpystrn(s->upgrade, endpoint->refuses_upgrade ? "" : "*",
                sizeof s->upgrade);
}

/* The app may close it at this moment. Then the request is sent again, so it
 * has to be one that may be repeated. */
static int is_usable(apppool_connection_t *c, proxy_conn_rec *conn,
                     const request_rec *r, const apppool_endpoint_t *endpoint)
{
    return c->id == endpoint->id && conn->connection &&
           apl_now() - c->used < KEEP_LIMIT &&
           apppool_connection_filter_may_repeat(r, endpoint->wire.listen !=
                                                       APL_LISTEN_TCP) &&
           apppool_proxy.ap_proxy_check_connection(SCHEME, conn, r->server, 0,
                                                   PROXY_CHECK_CONN_EMPTY) ==
               APR_SUCCESS;
}

static apr_status_t connect_new(apppool_connection_t *c, proxy_conn_rec *conn,
                                request_rec *r,
                                const apppool_endpoint_t *endpoint,
                                int64_t deadline)
{
    apr_status_t rv =
        apppool_connect(&conn->sock, endpoint, deadline, conn->scpool);

    if (rv != APR_SUCCESS) {
        conn->sock = NULL;
        return rv;
    }
    apr_socket_timeout_set(conn->sock, endpoint->timeout);
    if (apppool_proxy.ap_proxy_connection_create_ex(SCHEME, conn, r) != OK)
        return APR_EGENERAL;
    apppool_connection_filter_add(&c->filter, conn->connection);
    c->id = endpoint->id;
    return APR_SUCCESS;
}

apr_status_t apppool_connection_open(apppool_connection_t *c, request_rec *r,
                                     const apppool_endpoint_t *endpoint,
                                     int64_t deadline)
{
    server_rec *s = r->server;
    proxy_conn_rec *conn = take_conn(c, s);
    apr_status_t rv = APR_SUCCESS;
    int reused;

    if (!conn)
        return APR_EGENERAL;
    c->filter.r = NULL;
    reused = is_usable(c, conn, r, endpoint);
    if (!reused) {
        conn = renew_conn(c, conn, s);
        if (!conn)
            return APR_EGENERAL;
    }
    set_up_worker(c, endpoint);
    if (reused)
        apr_socket_timeout_set(conn->sock, endpoint->timeout);
    else
        rv = connect_new(c, conn, r, endpoint, deadline);
    /* The scheme handler takes exactly this one. */
    c->filter.worker->cp->conn = conn;
    c->sock = conn->sock;
    return rv;
}

int apppool_connection_descriptor(const apppool_connection_t *c)
{
    apr_os_sock_t fd = -1;

    apr_os_sock_get(&fd, c->sock);
    return fd;
}

const apppool_connection_filter_t *
apppool_connection_filter(const apppool_connection_t *c)
{
    return &c->filter;
}

static void set_timeout(const apppool_connection_t *c,
                        apr_interval_time_t timeout)
{
    if (c->sock)
        apr_socket_timeout_set(c->sock, timeout);
}

int apppool_connection_run(apppool_connection_t *c, request_rec *r,
                           const apppool_first_byte_t *first_byte,
                           const char *url)
{
    int status;

    set_timeout(c, apppool_first_byte_timeout(first_byte));
    apppool_connection_filter_begin(&c->filter, r, first_byte);
    status = apppool_proxy.proxy_run_scheme_handler(
        r, c->filter.worker, apppool_proxy_api_conf(r->server),
        apr_pstrdup(r->pool, url), NULL, 0);
    c->sock = NULL;
    apppool_connection_filter_end(&c->filter);
    return status;
}

void apppool_connection_response_began(const apppool_connection_t *c)
{
    if (apppool_first_byte_bypasses_filters(&c->filter.first_byte))
        set_timeout(c, c->filter.first_byte.timeout);
}
