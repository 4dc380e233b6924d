/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/client_proxy.h"

#include <apr_portable.h>
#include <apr_strings.h>
#include <apr_thread_mutex.h>

#include "mod_apppool/backend/in_use.h"
#include "mod_apppool/backend/proxy_api.h"
#include "mod_apppool/backend/proxy_filter.h"
#include "shm/format/format.h"
#include "base/contract.h"

#define SCHEME "apppool"

typedef struct proxy_t {
    apppool_app_client_t base;
    struct proxy_t *next; /* in the list of unused ones */
    uint64_t named;       /* the process that the worker is named after */
    const char *url;      /* of the request */
    int is_running;
    apppool_proxy_filter_t filter; /* has the worker */
} proxy_t;

/* Per child: workers of mod_proxy that no request uses. None is connected. */
static struct {
    apr_pool_t *pool;
    apr_allocator_t *allocator; /* of the pool: LeakSanitizer reads no pools */
    apr_thread_mutex_t *mutex;
    proxy_t *first;
} unused;

void apppool_client_proxy_init(apr_pool_t *p)
{
    apr_thread_mutex_t *mutex;

    /* Several threads use this allocator for pools of mod_proxy. */
    apr_allocator_create(&unused.allocator);
    apr_thread_mutex_create(&mutex, APR_THREAD_MUTEX_DEFAULT, p);
    apr_allocator_mutex_set(unused.allocator, mutex);
    apr_pool_create_ex(&unused.pool, p, NULL, unused.allocator);
    apr_allocator_owner_set(unused.allocator, unused.pool);
    apr_pool_tag(unused.pool, "apppool_connections");
    apr_thread_mutex_create(&unused.mutex, APR_THREAD_MUTEX_DEFAULT, p);
    unused.first = NULL;
}

/* ---- the workers ---- */

/* Make a worker for one connection. No list of mod_proxy has it. The caller
 * holds the mutex. */
static proxy_t *make(server_rec *s)
{
    proxy_t *c = apr_pcalloc(unused.pool, sizeof *c);
    proxy_worker *w;

    if (apppool_proxy.ap_proxy_define_worker(unused.pool, &w, NULL, NULL,
                                             "http://localhost", 0))
        return NULL;
    w->s->status |= PROXY_WORKER_INITIALIZED | PROXY_WORKER_IGNORE_ERRORS;
    w->s->hmax = w->s->smax = w->s->min = 0;
    w->s->is_address_reusable = 0;
    w->s->disablereuse = w->s->disablereuse_set = 1;
    w->s->timeout_set = 1;
    /* All fields together have that limit (proxy_filter.h). */
    w->s->response_field_size = APPPOOL_HEADER_MOST;
    w->s->response_field_size_set = 1;
    w->s->flush_packets = flush_auto;
    apr_cpystrn(w->s->upgrade, "*", sizeof w->s->upgrade);
    c->filter.worker = w;
    return apppool_proxy.ap_proxy_initialize_worker(w, s, unused.pool) ==
                   APR_SUCCESS
               ? c
               : NULL;
}

static proxy_t *take(server_rec *s)
{
    proxy_t *c;

    apr_thread_mutex_lock(unused.mutex);
    c = unused.first;
    if (c)
        unused.first = c->next;
    else
        c = make(s);
    apr_thread_mutex_unlock(unused.mutex);
    return c;
}

/* mod_proxy's record of the connection. @return NULL: mod_proxy logged why */
static proxy_conn_rec *acquire(const proxy_t *c, server_rec *s)
{
    proxy_conn_rec *conn = NULL;

    if (apppool_proxy.ap_proxy_acquire_connection(SCHEME, &conn,
                                                  c->filter.worker, s) != OK)
        return NULL;
    return conn;
}

/* Within run() it is mod_proxy that closes. */
static void close_connection(apppool_app_client_t *client)
{
    proxy_t *c = (proxy_t *)client;
    const proxy_conn_rec *open = c->filter.worker->cp->conn;
    server_rec *s = client->r->server;
    proxy_conn_rec *conn;

    if (c->is_running)
        return;
    conn = open && open->sock ? acquire(c, s) : NULL;
    /* mod_proxy closes the socket and frees the memory of the connection. */
    if (conn)
        apppool_proxy.ap_proxy_release_connection(SCHEME, conn, s);
    c->filter.r = NULL;
    apr_thread_mutex_lock(unused.mutex);
    c->next = unused.first;
    unused.first = c;
    apr_thread_mutex_unlock(unused.mutex);
}

/* ---- connecting ---- */

static void set_up_worker(proxy_t *c, const apppool_endpoint_t *endpoint)
{
    proxy_worker_shared *s = c->filter.worker->s;

    /* mod_proxy uses this name to distinguish connections. It is not a path, so
     * that mod_proxy cannot connect by itself, without our filter. */
    if (c->named != endpoint->id)
        apr_snprintf(s->uds_path, sizeof s->uds_path,
                     "apppool-" CONTRACT_ID_FMT, endpoint->id);
    c->named = endpoint->id;
    s->timeout = endpoint->timeout;
}

/* mod_proxy's record of the connection that is open: conn->sock. */
static apr_status_t wrap(proxy_t *c, proxy_conn_rec *conn, request_rec *r,
                         const apppool_endpoint_t *endpoint)
{
    apr_socket_timeout_set(conn->sock, endpoint->timeout);
    if (apppool_proxy.ap_proxy_connection_create_ex(SCHEME, conn, r) != OK)
        return APR_EGENERAL;
    apppool_proxy_filter_add(&c->filter, conn->connection);
    return APR_SUCCESS;
}

static int descriptor_of(apr_socket_t *sock)
{
    apr_os_sock_t fd = -1;

    if (sock)
        apr_os_sock_get(&fd, sock);
    return fd;
}

static apr_status_t open_connection(apppool_app_client_t *client,
                                    const apppool_endpoint_t *endpoint,
                                    apppool_parked_t *parked, int64_t deadline)
{
    proxy_t *c = (proxy_t *)client;
    proxy_conn_rec *conn = acquire(c, client->r->server);
    apr_status_t rv;

    (void)parked;
    if (!conn)
        return APR_EGENERAL;
    set_up_worker(c, endpoint);
    conn->sock = NULL;
    rv = apppool_connect(&conn->sock, endpoint, deadline, conn->scpool);
    if (rv == APR_SUCCESS)
        rv = wrap(c, conn, client->r, endpoint);
    /* The scheme handler takes exactly this one. */
    c->filter.worker->cp->conn = conn;
    client->socket = descriptor_of(conn->sock);
    return rv;
}

/* ---- a request ---- */

static int run(apppool_app_client_t *client,
               const apppool_first_byte_t *first_byte)
{
    proxy_t *c = (proxy_t *)client;
    request_rec *r = client->r;
    apppool_in_use_t use;
    int status;

    /* mod_proxy would close the socket that we have connected. */
    apr_table_unset(r->subprocess_env, "proxy-initial-not-pooled");
    /* What it has kept of an earlier request that shares our pool. */
    apr_pool_userdata_setn(NULL, "proxy-req-input", NULL, r->pool);
    apppool_in_use_begin_tunnel(&use, client->socket, r);
    apppool_proxy_filter_begin(&c->filter, r, first_byte);
    c->is_running = 1;
    status = apppool_proxy.proxy_run_scheme_handler(
        r, c->filter.worker, apppool_proxy_api_conf(r->server),
        apr_pstrdup(r->pool, c->url), NULL, 0);
    c->is_running = 0;
    apppool_proxy_filter_end(&c->filter);
    apppool_in_use_end(&use);
    return status;
}

static apppool_outcome_t outcome(const apppool_app_client_t *client)
{
    return apppool_proxy_filter_outcome(&((const proxy_t *)client)->filter);
}

static int has_closed(const apppool_app_client_t *client)
{
    return apppool_proxy_filter_has_ended(&((const proxy_t *)client)->filter);
}

apppool_app_client_t *
apppool_client_proxy_make(request_rec *r, const char *label, const char *url)
{
    static const apppool_app_client_calls_t calls = {
        open_connection, run, NULL, outcome, has_closed, has_closed,
        close_connection};
    proxy_t *c = take(r->server);

    if (!c)
        return NULL;
    c->base = (apppool_app_client_t){&calls, r, label, -1, 0};
    c->url = url;
    c->filter.r = NULL;
    return &c->base;
}

void apppool_client_proxy_header_is_made(const apppool_app_client_t *client)
{
    if (client->does->run == run)
        ((const proxy_t *)client)->filter.c->keepalive = AP_CONN_UNKNOWN;
}
