/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/connection.h"

#include <apr_portable.h>
#include <apr_strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mod_apppool/backend/connect.h"
#include "mod_apppool/backend/connection_idle.h"
#include "mod_apppool/backend/proxy_api.h"
#include "mod_apppool/backend/connection_filter.h"
#include "shm/format/format.h"
#include "shm/lock/lock_token.h"
#include "spawner/shared/contract.h"

#define SCHEME "apppool"

/* May the next request use the connection? If a request or a response has left
 * bytes there, the next client would get them as part of its response. */
static int is_clean(const apppool_connection_t *c, const proxy_conn_rec *conn)
{
    return conn && conn->sock && conn->connection && !conn->close &&
           conn->connection->keepalive != AP_CONN_CLOSE &&
           apppool_connection_filter_is_clean(&c->filter);
}

/* ---- take and give ---- */

apppool_connection_t *apppool_connection_take(server_rec *s, uint64_t id)
{
    return apppool_connection_idle_take(s, id);
}

void apppool_connection_give(apppool_connection_t *c)
{
    const proxy_conn_rec *conn = c->filter.worker->cp->conn;
    int is_shared = c->serial != 0 || c->shared;

    apppool_connection_settle(c);
    if (!is_shared && !is_clean(c, conn))
        c->id = 0;
    if (c->id == 0 && conn && conn->sock)
        apppool_connection_idle_close(c);
    c->filter.r = NULL;
    apppool_connection_idle_put(c);
}

/* Renew the connection record, so that mod_proxy frees its memory. */
static proxy_conn_rec *renew_conn(apppool_connection_t *c, proxy_conn_rec *conn,
                                  server_rec *s)
{
    c->id = 0;
    c->filter.worker->s->is_address_reusable = 0;
    apppool_proxy.ap_proxy_release_connection(SCHEME, conn, s);
    return apppool_connection_idle_conn(c, s);
}

/* ---- connecting ---- */

static void set_up_worker(apppool_connection_t *c,
                          const apppool_endpoint_t *endpoint)
{
    proxy_worker_shared *s = c->filter.worker->s;
    int keeps = c->shared || endpoint->keep;

    /* mod_proxy uses this name to distinguish connections. It is not a path, so
     * that mod_proxy cannot connect by itself, without our filter. */
    if (c->named != endpoint->id)
        apr_snprintf(s->uds_path, sizeof s->uds_path,
                     "apppool-" CONTRACT_ID_FMT, endpoint->id);
    c->named = endpoint->id;
    c->filter.http = endpoint->wire.protocol == APL_HTTP;
    c->filter.local = endpoint->wire.listen != APL_LISTEN_TCP;
    c->filter.has_body = endpoint->has_body;
    s->is_address_reusable = keeps != 0;
    s->disablereuse = !keeps;
    s->disablereuse_set = 1;
    s->timeout = endpoint->timeout;
    s->timeout_set = 1;
    s->flush_packets = flush_auto; /* for fcgi; the others flush anyway */
    apr_cpystrn(s->upgrade, endpoint->refuses_upgrade ? "" : "*",
                sizeof s->upgrade);
}

static int descriptor_of(const proxy_conn_rec *conn)
{
    apr_os_sock_t fd = -1;

    apr_os_sock_get(&fd, conn->sock);
    return fd;
}

/* The app may close the connection at this moment. Then the request is sent
 * again, so only a request that may be repeated can use it. */
static int is_usable(const apppool_connection_t *c, const proxy_conn_rec *conn,
                     const apppool_endpoint_t *endpoint)
{
    return c->id == endpoint->id && c->serial == 0 && conn->connection &&
           apl_now() - c->used < APPPOOL_CONNECTION_IDLE_LIMIT &&
           endpoint->may_reuse &&
           apppool_shared_connection_is_quiet(descriptor_of(conn));
}

/* mod_proxy's record of a connection that is open: conn->sock. */
static apr_status_t wrap(apppool_connection_t *c, proxy_conn_rec *conn,
                         request_rec *r, const apppool_endpoint_t *endpoint)
{
    apr_socket_timeout_set(conn->sock, endpoint->timeout);
    if (apppool_proxy.ap_proxy_connection_create_ex(SCHEME, conn, r) != OK)
        return APR_EGENERAL;
    apppool_connection_filter_add(&c->filter, conn->connection);
    c->id = endpoint->id;
    c->serial = 0;
    return APR_SUCCESS;
}

static apr_status_t connect_new(apppool_connection_t *c, proxy_conn_rec *conn,
                                request_rec *r,
                                const apppool_endpoint_t *endpoint,
                                int64_t deadline)
{
    apr_status_t rv;

    conn->sock = NULL;
    rv = apppool_connect(&conn->sock, endpoint, deadline, conn->scpool);
    if (rv != APR_SUCCESS) {
        conn->sock = NULL;
        return rv;
    }
    return wrap(c, conn, r, endpoint);
}

/* ---- a shared connection ---- */

/* Our own copy of what is parked, in a new record. */
static int copy_parked(apppool_connection_t *c, proxy_conn_rec *conn,
                       request_rec *r, const apppool_endpoint_t *endpoint)
{
    int fd = apppool_shared_connection_copy(c->shared);
    apr_os_sock_info_t info = {
        .os_sock = &fd, .family = AF_UNIX, .type = SOCK_STREAM};

    if (fd < 0)
        return 0;
    if (apr_os_sock_make(&conn->sock, &info, conn->scpool) != APR_SUCCESS) {
        close(fd);
        return 0;
    }
    return wrap(c, conn, r, endpoint) == APR_SUCCESS;
}

/* @param at mod_proxy's record; it is replaced if it has another connection
 * @return 1: it has the shared connection, and the request can be sent */
static int reuse_shared(apppool_connection_t *c, proxy_conn_rec **at,
                        request_rec *r, const apppool_endpoint_t *endpoint)
{
    uint32_t serial = c->shared->state.serial;

    if (c->id != endpoint->id || c->serial != serial || !(*at)->connection) {
        *at = renew_conn(c, *at, r->server);
        if (!*at || !copy_parked(c, *at, r, endpoint))
            return 0;
        c->serial = serial;
    }
    return apppool_shared_connection_is_quiet(descriptor_of(*at));
}

void apppool_connection_settle(apppool_connection_t *c)
{
    const proxy_conn_rec *conn = c->filter.worker->cp->conn;
    apppool_shared_connection_t *shared = c->shared;
    int fd = conn && conn->sock ? descriptor_of(conn) : -1;

    c->shared = NULL;
    c->filter.shared = NULL;
    if (!shared || !shared->is_held)
        return;
    /* The next request looks at the socket. A new connection is not parked in
     * vain: some servers close it without a word. */
    if (apppool_shared_connection_end(
            shared, fd,
            is_clean(c, conn) &&
                (shared->is_taken || apppool_shared_connection_is_quiet(fd))))
        c->serial = shared->state.serial;
    else
        c->id = 0;
}

/* ---- open ---- */

apr_status_t apppool_connection_open(apppool_connection_t *c, request_rec *r,
                                     const apppool_endpoint_t *endpoint,
                                     apppool_shared_connection_t *shared,
                                     int64_t deadline)
{
    server_rec *s = r->server;
    proxy_conn_rec *conn = apppool_connection_idle_conn(c, s);
    apr_status_t rv = APR_SUCCESS;
    int reused;

    c->shared = shared->is_held ? shared : NULL;
    if (!conn)
        return APR_EGENERAL;
    c->filter.r = NULL;
    if (shared->is_taken)
        reused = reuse_shared(c, &conn, r, endpoint);
    else
        reused = !c->shared && is_usable(c, conn, endpoint);
    if (!reused) {
        apppool_shared_connection_cut(shared);
        conn = conn ? renew_conn(c, conn, s) : NULL;
        if (!conn)
            return APR_EGENERAL;
    }
    set_up_worker(c, endpoint);
    if (reused)
        apr_socket_timeout_set(conn->sock, endpoint->timeout);
    else
        rv = connect_new(c, conn, r, endpoint, deadline);
    c->filter.reused = reused;
    c->filter.shared = reused && c->shared ? &c->shared->state : NULL;
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

void apppool_connection_header_is_made(const apppool_connection_t *c)
{
    c->filter.c->keepalive = AP_CONN_UNKNOWN;
}

int apppool_connection_run(apppool_connection_t *c, request_rec *r,
                           const apppool_first_byte_t *first_byte,
                           const char *url)
{
    int status;

    set_timeout(c, apppool_first_byte_timeout(first_byte));
    /* mod_proxy would close the socket that we have connected. A connection that
     * was used before takes only requests that may be repeated, so it is no
     * reason to have another one. */
    apr_table_unset(r->subprocess_env, "proxy-initial-not-pooled");
    apppool_connection_filter_begin(&c->filter, r, first_byte);
    if (c->filter.reused)
        c->filter.first_byte.needs_room = 0;
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
