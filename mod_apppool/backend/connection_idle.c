/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/connection_idle.h"

#include <ap_mpm.h>
#include <apr_thread_mutex.h>
#include <http_config.h>

#include "mod_apppool/backend/proxy_api.h"
#include "shm/lock/lock_token.h"

#define SCHEME   "apppool"

/* Each has some 40 KB. */
#define IDLE_MAX 16

/* Per child. */
static struct {
    apr_pool_t *pool;
    apr_thread_mutex_t *mutex;
    apppool_connection_t *idle;
    int is_scheduled; /* close_expired() will be called */
    int no_callback;  /* the MPM cannot call it; read by all threads */
} connections;

/* ---- take one ---- */

void apppool_connection_idle_init(apr_pool_t *pconf)
{
    apr_allocator_t *allocator;
    apr_thread_mutex_t *mutex;

    /* mod_proxy's pools share this allocator over threads. */
    apr_allocator_create(&allocator);
    apr_thread_mutex_create(&mutex, APR_THREAD_MUTEX_DEFAULT, pconf);
    apr_allocator_mutex_set(allocator, mutex);
    apr_pool_create_ex(&connections.pool, pconf, NULL, allocator);
    apr_allocator_owner_set(allocator, connections.pool);
    apr_pool_tag(connections.pool, "apppool_channels");
    apr_thread_mutex_create(&connections.mutex, APR_THREAD_MUTEX_DEFAULT,
                            pconf);
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

/* One that is connected to this process; else one that is not connected; else,
 * if there are many, the one that was used longest ago. The mutex is held. */
static apppool_connection_t **find_idle(uint64_t id)
{
    apppool_connection_t **at, **pick = NULL, **last = NULL;
    int n = 0;

    for (at = &connections.idle; *at; at = &(*at)->next) {
        if ((*at)->id == id)
            return at;
        if ((*at)->id == 0)
            pick = at;
        last = at;
        n++;
    }
    return pick || n < IDLE_MAX ? pick : last;
}

apppool_connection_t *apppool_connection_idle_take(server_rec *s, uint64_t id)
{
    apppool_connection_t **pick, *c;

    apr_thread_mutex_lock(connections.mutex);
    pick = find_idle(id);
    if (pick) {
        c = *pick;
        *pick = c->next;
    }
    else
        c = make_connection(s);
    apr_thread_mutex_unlock(connections.mutex);
    return c;
}

proxy_conn_rec *apppool_connection_idle_conn(apppool_connection_t *c,
                                             server_rec *s)
{
    proxy_conn_rec *conn = NULL;

    if (apppool_proxy.ap_proxy_acquire_connection(SCHEME, &conn,
                                                  c->filter.worker, s) != OK)
        return NULL;
    return conn;
}

void apppool_connection_idle_close(apppool_connection_t *c)
{
    proxy_conn_rec *conn = apppool_connection_idle_conn(c, ap_server_conf);

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
        if (c->id == 0 || now - c->used < APPPOOL_CONNECTION_IDLE_LIMIT) {
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
            ap_mpm_register_timed_callback(APPPOOL_CONNECTION_IDLE_LIMIT,
                                           close_expired, NULL) == APR_SUCCESS;
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
        apppool_connection_idle_close(c);
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

void apppool_connection_idle_put(apppool_connection_t *c)
{
    c->used = apl_now();
    apr_thread_mutex_lock(connections.mutex);
    /* That of a shared one is a copy, and nobody waits for its end. */
    if (c->id != 0 && !schedule_close() && c->serial == 0)
        apppool_connection_idle_close(c);
    put_idle(c);
    apr_thread_mutex_unlock(connections.mutex);
}

int apppool_connection_idle_are_kept(void)
{
    return !__atomic_load_n(&connections.no_callback, __ATOMIC_RELAXED);
}
