/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/connection_idle.h"

#include <ap_mpm.h>
#include <apr_portable.h>
#include <apr_thread_cond.h>
#include <apr_thread_mutex.h>
#include <apr_thread_proc.h>
#include <http_config.h>
#include <signal.h>
#include <sys/socket.h>

#include "mod_apppool/backend/proxy_api.h"
#include "shm/lock/lock_token.h"
#include "shm/slots/connection_room.h"

#define SCHEME   "apppool"

/* Each has some 40 KB. With more threads there may be one for each thread, as in
 * mod_proxy. */
#define IDLE_MIN 16

/* Per child. */
static struct {
    apr_pool_t *pool;
    apr_allocator_t *allocator; /* of the pool: LeakSanitizer reads no pools */
    apr_thread_mutex_t *mutex;
    apppool_connection_t *idle;
    apr_thread_cond_t *filled; /* one was put into it */
    const apl_pool_t *shm;
    int has_threads;  /* the MPM has */
    int idle_max;     /* in the list: then one is used again */
    int is_watched;   /* watch_idle() runs */
    int is_unwatched; /* the thread cannot run; all threads read this */
} connections;

/* ---- take one ---- */

void apppool_connection_idle_init(apr_pool_t *pconf, const apl_pool_t *shm)
{
    apr_thread_mutex_t *mutex;

    /* Several threads use this allocator for pools of mod_proxy. */
    apr_allocator_create(&connections.allocator);
    apr_thread_mutex_create(&mutex, APR_THREAD_MUTEX_DEFAULT, pconf);
    apr_allocator_mutex_set(connections.allocator, mutex);
    apr_pool_create_ex(&connections.pool, pconf, NULL, connections.allocator);
    apr_allocator_owner_set(connections.allocator, connections.pool);
    apr_pool_tag(connections.pool, "apppool_channels");
    apr_thread_mutex_create(&connections.mutex, APR_THREAD_MUTEX_DEFAULT,
                            pconf);
    apr_thread_cond_create(&connections.filled, pconf);
    connections.idle = NULL;
    connections.shm = shm;
    connections.is_watched = connections.is_unwatched = 0;
    connections.has_threads = connections.idle_max = 0;
    ap_mpm_query(AP_MPMQ_IS_THREADED, &connections.has_threads);
    ap_mpm_query(AP_MPMQ_MAX_THREADS, &connections.idle_max);
    if (connections.idle_max < IDLE_MIN)
        connections.idle_max = IDLE_MIN;
}

/* Make a worker for one connection. No list of mod_proxy has it. The caller
 * holds the mutex. */
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

/* Choose a connection to this process, or else one that is not connected. If
 * there is neither and there are many, choose the one that was used longest
 * ago. The caller holds the mutex. */
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
    return pick || n < connections.idle_max ? pick : last;
}

/* The caller holds the mutex. */
static void count(apppool_connection_t *c, int is_idle)
{
    if (c->is_counted != is_idle)
        apl_connection_room_count(connections.shm, c->id, is_idle ? 1 : -1);
    c->is_counted = is_idle;
}

apppool_connection_t *apppool_connection_idle_take(server_rec *s, uint64_t id)
{
    apppool_connection_t **pick, *c;

    apr_thread_mutex_lock(connections.mutex);
    pick = find_idle(id);
    if (pick) {
        c = *pick;
        *pick = c->next;
        count(c, 0);
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

/* A child has only a copy of a shared connection, and nothing waits for the end
 * of the copy. */
static int is_own(const apppool_connection_t *c)
{
    return c->id != 0 && c->serial == 0;
}

/* End the connections that may not stay idle. The app sees the end, and the
 * next request that takes the record closes the socket. Records belong to
 * mod_proxy, so this thread does not touch them. The caller holds the mutex.
 * @return us until the next connection has been idle for too long; -1: there is
 *         none */
static int64_t end_expired(int64_t now)
{
    apppool_connection_t *c;
    int64_t until, least = -1;

    for (c = connections.idle; c; c = c->next) {
        if (!is_own(c))
            continue;
        until = c->used + APPPOOL_CONNECTION_IDLE_LIMIT - now;
        if (until <= 0 ||
            !apl_connection_room_is_there(connections.shm, c->id, now)) {
            shutdown(c->descriptor, SHUT_RDWR);
            count(c, 0);
            c->id = 0;
        }
        else if (least < 0 || until < least)
            least = until;
    }
    return least;
}

/* Each child has this thread. An app that has to stop may wait until its
 * clients have closed their connections, and another child may need the
 * room. */
static void *APR_THREAD_FUNC watch_idle(apr_thread_t *thread, void *unused)
{
    (void)thread;
    apr_thread_mutex_lock(connections.mutex);
    for (;;) {
        uint32_t seen = apl_connection_room_read(connections.shm);
        int64_t left = end_expired(apl_now());

        if (left < 0) {
            apr_thread_cond_wait(connections.filled, connections.mutex);
            continue;
        }
        apr_thread_mutex_unlock(connections.mutex);
        apl_connection_room_sleep(connections.shm, seen, left);
        apr_thread_mutex_lock(connections.mutex);
    }
    return unused;
}

/* Signals are for the threads of httpd. */
static int start_thread(void)
{
    sigset_t all, before;
    apr_threadattr_t *detached;
    apr_thread_t *thread;
    apr_status_t rv;

    if (apr_threadattr_create(&detached, connections.pool) != APR_SUCCESS ||
        apr_threadattr_detach_set(detached, 1) != APR_SUCCESS)
        return 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rv = apr_thread_create(&thread, detached, watch_idle, NULL,
                           connections.pool);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rv == APR_SUCCESS;
}

/* A connection is not kept if no thread runs that would close it. The caller
 * holds the mutex. */
static int is_watched(void)
{
    if (!connections.is_watched && !connections.is_unwatched) {
        connections.is_watched = start_thread();
        __atomic_store_n(&connections.is_unwatched, !connections.is_watched,
                         __ATOMIC_RELAXED);
    }
    return connections.is_watched;
}

static int descriptor_of(const apppool_connection_t *c)
{
    const proxy_conn_rec *conn = c->filter.worker->cp->conn;
    apr_os_sock_t fd = -1;

    if (conn && conn->sock)
        apr_os_sock_get(&fd, conn->sock);
    return fd;
}

void apppool_connection_idle_put(apppool_connection_t *c)
{
    c->used = apl_now();
    c->descriptor = descriptor_of(c);
    if (is_own(c) &&
        !apl_connection_room_is_there(connections.shm, c->id, c->used))
        apppool_connection_idle_close(c);
    apr_thread_mutex_lock(connections.mutex);
    if (is_own(c) && !is_watched())
        apppool_connection_idle_close(c);
    c->next = connections.idle;
    connections.idle = c;
    if (is_own(c)) {
        count(c, 1);
        apr_thread_cond_signal(connections.filled);
    }
    apr_thread_mutex_unlock(connections.mutex);
}

int apppool_connection_idle_are_kept(uint64_t id, uint32_t concurrency)
{
    return (concurrency == 0 || (concurrency > 1 && connections.has_threads)) &&
           !__atomic_load_n(&connections.is_unwatched, __ATOMIC_RELAXED) &&
           apl_connection_room_is_there(connections.shm, id, apl_now());
}
