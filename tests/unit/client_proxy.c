/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The threads of a child of httpd share the workers of mod_proxy that no request
 * uses. mod_proxy and the wire are played here. */

#include "mod_apppool/backend/client_proxy.h"

#include <apr_general.h>
#include <apr_network_io.h>
#include <apr_thread_mutex.h>
#include <http_config.h>
#include <pthread.h>
#include <stdlib.h>

#include "mod_apppool/backend/connect.h"
#include "mod_apppool/backend/in_use.h"
#include "mod_apppool/backend/proxy_api.h"
#include "mod_apppool/backend/proxy_filter.h"
#include "tests/unit/support/scene.h"

#define THREADS 4
#define ROUNDS  3000
#define PIDS    6

apppool_proxy_api_t apppool_proxy;

/* A worker of mod_proxy with its only connection. */
typedef struct {
    proxy_worker worker; /* first: its address is theirs */
    proxy_worker_shared shared;
    proxy_conn_pool pool;
    proxy_conn_rec conn;
    conn_rec connection;
    uint32_t taken; /* by a request */
} fake_t;

static uint32_t made, connected;

/* ---- mod_proxy ---- */

static char *define(apr_pool_t *p, proxy_worker **worker, proxy_balancer *b,
                    proxy_server_conf *conf, const char *url, int shared)
{
    fake_t *f = apr_pcalloc(p, sizeof *f);

    (void)b, (void)conf, (void)url, (void)shared;
    f->worker.s = &f->shared;
    f->worker.cp = &f->pool;
    f->pool.conn = &f->conn;
    apr_pool_create(&f->conn.scpool, p);
    made++; /* the list's mutex is held */
    *worker = &f->worker;
    return NULL;
}

static apr_status_t initialize(proxy_worker *w, server_rec *s, apr_pool_t *p)
{
    (void)w, (void)s, (void)p;
    return APR_SUCCESS;
}

/* Only the request that has taken a worker uses it. */
static int acquire(const char *scheme, proxy_conn_rec **conn, proxy_worker *w,
                   server_rec *s)
{
    fake_t *f = (fake_t *)w;

    (void)scheme, (void)s;
    if (!f->conn.sock && __atomic_exchange_n(&f->taken, 1, __ATOMIC_RELAXED))
        abort();
    *conn = &f->conn;
    (*conn)->worker = w;
    return OK;
}

static int release(const char *scheme, proxy_conn_rec *conn, server_rec *s)
{
    fake_t *f = (fake_t *)conn->worker;

    (void)scheme, (void)s;
    if (f->shared.is_address_reusable)
        abort();
    apr_socket_close(conn->sock);
    conn->sock = NULL;
    conn->connection = NULL;
    if (!__atomic_exchange_n(&f->taken, 0, __ATOMIC_RELAXED))
        abort();
    return OK;
}

static int create(const char *scheme, proxy_conn_rec *conn, request_rec *r)
{
    (void)scheme, (void)r;
    conn->connection = &((fake_t *)conn->worker)->connection;
    return OK;
}

proxy_server_conf *apppool_proxy_api_conf(const server_rec *s)
{
    (void)s;
    return NULL;
}

static void play_mod_proxy(void)
{
    apppool_proxy.ap_proxy_define_worker = define;
    apppool_proxy.ap_proxy_initialize_worker = initialize;
    apppool_proxy.ap_proxy_acquire_connection = acquire;
    apppool_proxy.ap_proxy_release_connection = release;
    apppool_proxy.ap_proxy_connection_create_ex = create;
}

/* ---- the rest of the module, and of httpd ---- */

apr_status_t apppool_connect(apr_socket_t **sock,
                             const apppool_endpoint_t *endpoint,
                             int64_t deadline, apr_pool_t *p)
{
    (void)endpoint, (void)deadline;
    __atomic_add_fetch(&connected, 1, __ATOMIC_RELAXED);
    return apr_socket_create(sock, APR_INET, SOCK_STREAM, APR_PROTO_TCP, p);
}

void apppool_proxy_filter_add(apppool_proxy_filter_t *filter, conn_rec *c)
{
    (void)filter, (void)c;
}

void apppool_proxy_filter_begin(apppool_proxy_filter_t *filter, request_rec *r,
                                const apppool_first_byte_t *first_byte)
{
    filter->first_byte = *first_byte;
    filter->r = r;
}

void apppool_proxy_filter_end(apppool_proxy_filter_t *filter)
{
    (void)filter;
}

apppool_outcome_t
apppool_proxy_filter_outcome(const apppool_proxy_filter_t *filter)
{
    (void)filter;
    return APPPOOL_HEARD;
}

int apppool_proxy_filter_has_ended(const apppool_proxy_filter_t *filter)
{
    (void)filter;
    return 0;
}

void apppool_in_use_begin_tunnel(apppool_in_use_t *use, int app,
                                 const request_rec *r)
{
    (void)use, (void)app, (void)r;
}

void apppool_in_use_end(apppool_in_use_t *use)
{
    (void)use;
}

/* ---- the list of workers ---- */

static void one_request(request_rec *r, uint64_t id)
{
    apppool_endpoint_t endpoint = {
        .id = id, .wire.listen = APL_LISTEN_UNIX, .timeout = 1000};
    apppool_app_client_t *client = apppool_client_proxy_make(r, "shop", "");
    apppool_parked_t none = {0};

    if (client->does->open(client, &endpoint, &none, 0) != APR_SUCCESS ||
        client->socket < 0)
        abort();
    client->does->close(client);
}

static void *be_worker(void *number)
{
    server_rec s = {0};
    request_rec r = {.server = &s};
    uintptr_t i;

    for (i = 0; i < ROUNDS; i++)
        one_request(&r, 1 + (i * 7 + (uintptr_t)number) % PIDS);
    return NULL;
}

/* Each connection is new, but not its worker. */
static void a_taken_one_has_one_user(void **state)
{
    pthread_t threads[THREADS];
    apr_pool_t *p;
    uintptr_t i;

    (void)state;
    apr_pool_create(&p, NULL);
    play_mod_proxy();
    made = connected = 0;
    apppool_client_proxy_init(p);
    for (i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, be_worker, (void *)i);
    for (i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(connected, THREADS * ROUNDS);
    assert_true(made > 0 && made <= THREADS);
    apr_pool_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_taken_one_has_one_user),
    };

    apr_initialize();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
