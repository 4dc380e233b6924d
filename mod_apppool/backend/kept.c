/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/kept.h"

#include <ap_mpm.h>
#include <apr_thread_cond.h>
#include <apr_thread_mutex.h>
#include <apr_thread_proc.h>
#include <signal.h>
#include <unistd.h>

#include "shm/lock/lock_token.h"
#include "shm/slots/connection_room.h"

/* With more threads there may be one for each thread, as in mod_proxy. */
#define IDLE_MIN 16

typedef struct idle_t {
    struct idle_t *next;
    uint64_t id;  /* of the process */
    int64_t used; /* us: when it became idle */
    int fd;
} idle_t;

/* Per child. */
static struct {
    apr_pool_t *pool;
    apr_thread_mutex_t *mutex;
    idle_t *first; /* the one that was used last */
    idle_t *free;  /* records without a connection */
    apr_thread_cond_t *filled;
    const apl_pool_t *shm;
    int has_threads; /* the MPM has */
    int count, max;
    int is_watched;   /* watch() runs */
    int is_unwatched; /* the thread cannot run; all threads read this */
} idle;

void apppool_kept_init(apr_pool_t *p, const apl_pool_t *shm)
{
    apr_pool_create(&idle.pool, p);
    apr_pool_tag(idle.pool, "apppool_idle");
    apr_thread_mutex_create(&idle.mutex, APR_THREAD_MUTEX_DEFAULT, p);
    apr_thread_cond_create(&idle.filled, p);
    idle.first = idle.free = NULL;
    idle.shm = shm;
    idle.count = idle.is_watched = idle.is_unwatched = 0;
    idle.has_threads = idle.max = 0;
    ap_mpm_query(AP_MPMQ_IS_THREADED, &idle.has_threads);
    ap_mpm_query(AP_MPMQ_MAX_THREADS, &idle.max);
    if (idle.max < IDLE_MIN)
        idle.max = IDLE_MIN;
}

/* ---- the list; the caller holds the mutex ---- */

static void add(uint64_t id, int fd, int64_t now)
{
    idle_t *c = idle.free;

    if (c)
        idle.free = c->next;
    else
        c = apr_palloc(idle.pool, sizeof *c);
    *c = (idle_t){idle.first, id, now, fd};
    idle.first = c;
    idle.count++;
    apl_connection_room_count(idle.shm, id, 1);
}

/* @return its descriptor */
static int remove_at(idle_t **at)
{
    idle_t *c = *at;

    *at = c->next;
    c->next = idle.free;
    idle.free = c;
    idle.count--;
    apl_connection_room_count(idle.shm, c->id, -1);
    return c->fd;
}

static void close_last(void)
{
    idle_t **at = &idle.first;

    while ((*at)->next)
        at = &(*at)->next;
    close(remove_at(at));
}

/* Close those that may not stay idle.
 * @return us until the next one has been idle for too long; -1: there is
 *         none */
static int64_t close_expired(int64_t now)
{
    idle_t **at = &idle.first;
    int64_t left, least = -1;

    while (*at) {
        left = (*at)->used + APPPOOL_KEPT_LIMIT - now;
        if (left <= 0 ||
            !apl_connection_room_is_there(idle.shm, (*at)->id, now)) {
            close(remove_at(at));
            continue;
        }
        if (least < 0 || left < least)
            least = left;
        at = &(*at)->next;
    }
    return least;
}

/* ---- the thread ---- */

/* Each child has this thread. An app that has to stop may wait until its
 * clients have closed their connections, and another child may need the
 * room. */
static void *APR_THREAD_FUNC watch(apr_thread_t *thread, void *unused)
{
    (void)thread;
    apr_thread_mutex_lock(idle.mutex);
    for (;;) {
        uint32_t seen = apl_connection_room_read(idle.shm);
        int64_t left = close_expired(apl_now());

        if (left < 0) {
            apr_thread_cond_wait(idle.filled, idle.mutex);
            continue;
        }
        apr_thread_mutex_unlock(idle.mutex);
        apl_connection_room_sleep(idle.shm, seen, left);
        apr_thread_mutex_lock(idle.mutex);
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

    if (apr_threadattr_create(&detached, idle.pool) != APR_SUCCESS ||
        apr_threadattr_detach_set(detached, 1) != APR_SUCCESS)
        return 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rv = apr_thread_create(&thread, detached, watch, NULL, idle.pool);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rv == APR_SUCCESS;
}

/* A connection is not kept if no thread runs that would close it. The caller
 * holds the mutex. */
static int is_watched(void)
{
    if (!idle.is_watched && !idle.is_unwatched) {
        idle.is_watched = start_thread();
        __atomic_store_n(&idle.is_unwatched, !idle.is_watched,
                         __ATOMIC_RELAXED);
    }
    return idle.is_watched;
}

/* ---- take and put ---- */

int apppool_kept_take(uint64_t id)
{
    int64_t limit = apl_now() - APPPOOL_KEPT_LIMIT;
    idle_t **at;
    int fd = -1;

    apr_thread_mutex_lock(idle.mutex);
    for (at = &idle.first; *at; at = &(*at)->next)
        if ((*at)->id == id && (*at)->used > limit) {
            fd = remove_at(at);
            break;
        }
    apr_thread_mutex_unlock(idle.mutex);
    return fd;
}

void apppool_kept_put(uint64_t id, int fd)
{
    int64_t now = apl_now();
    int is_kept;

    apr_thread_mutex_lock(idle.mutex);
    is_kept = fd >= 0 && apl_connection_room_is_there(idle.shm, id, now) &&
              is_watched();
    if (is_kept) {
        if (idle.count == idle.max)
            close_last();
        add(id, fd, now);
        apr_thread_cond_signal(idle.filled);
    }
    apr_thread_mutex_unlock(idle.mutex);
    if (!is_kept && fd >= 0)
        close(fd);
}

int apppool_kept_is_allowed(uint64_t id, uint32_t concurrency)
{
    return (concurrency == 0 || (concurrency > 1 && idle.has_threads)) &&
           !__atomic_load_n(&idle.is_unwatched, __ATOMIC_RELAXED) &&
           apl_connection_room_is_there(idle.shm, id, apl_now());
}
