/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/app_connection.h"

#include <apr_portable.h>
#include <apr_thread_mutex.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "mod_apppool/backend/kept.h"
#include "shm/lock/lock_token.h"

#define COPIES       64 /* descriptors that a child keeps, at most */
#define FAILURES_MAX 3

/* What this child knows of a process. */
typedef struct {
    uint64_t id;     /* of the process; 0: none */
    uint32_t serial; /* of the connection */
    int fd;          /* a copy that no request uses; -1: none */
    int failures;    /* in a row */
} copy_t;

/* Per child. */
static struct {
    apr_thread_mutex_t *mutex;
    copy_t copies[COPIES];
} kept;

void apppool_app_connection_init(apr_pool_t *pchild)
{
    int i;

    apr_thread_mutex_create(&kept.mutex, APR_THREAD_MUTEX_DEFAULT, pchild);
    for (i = 0; i < COPIES; i++)
        kept.copies[i] = (copy_t){.fd = -1};
}

/* ---- copies ---- */

/* Find the entry by the index of the process in its slot array. What was known
 * of the last process with this index is forgotten. The caller holds the mutex.
 * @param stale a copy to close; -1: none */
static copy_t *copy_of(uint64_t id, int *stale)
{
    copy_t *copy = &kept.copies[(id & 0xffff) % COPIES];

    *stale = -1;
    if (copy->id != id) {
        *stale = copy->fd;
        *copy = (copy_t){.id = id, .fd = -1};
    }
    return copy;
}

static void close_copy(int fd)
{
    if (fd >= 0)
        close(fd);
}

/* A copy of a connection that was cut is of no use.
 * @return a copy of this connection; -1: there is none */
static int take_copy(uint64_t id, uint32_t serial)
{
    int stale, fd;
    copy_t *copy;

    apr_thread_mutex_lock(kept.mutex);
    copy = copy_of(id, &stale);
    fd = copy->fd;
    copy->fd = -1;
    if (copy->serial != serial && fd >= 0) {
        stale = fd;
        fd = -1;
    }
    apr_thread_mutex_unlock(kept.mutex);
    close_copy(stale);
    return fd;
}

static void put_copy(uint64_t id, uint32_t serial, int fd)
{
    int stale, other;
    copy_t *copy;

    apr_thread_mutex_lock(kept.mutex);
    copy = copy_of(id, &stale);
    other = copy->fd;
    copy->fd = fd;
    copy->serial = serial;
    apr_thread_mutex_unlock(kept.mutex);
    close_copy(stale);
    close_copy(other);
}

/* ---- does the app keep its connections? ---- */

/* @param failures 1: one more; 0: no more in a row */
static int count_failures(uint64_t id, int failures)
{
    int stale, n;
    copy_t *copy;

    apr_thread_mutex_lock(kept.mutex);
    copy = copy_of(id, &stale);
    copy->failures = failures ? copy->failures + 1 : 0;
    n = copy->failures;
    apr_thread_mutex_unlock(kept.mutex);
    close_copy(stale);
    return n;
}

int apppool_app_connection_may_keep(uint64_t id)
{
    const copy_t *copy = &kept.copies[(id & 0xffff) % COPIES];
    int is_kept;

    apr_thread_mutex_lock(kept.mutex);
    is_kept = copy->id != id || copy->failures < FAILURES_MAX;
    apr_thread_mutex_unlock(kept.mutex);
    return is_kept;
}

/* ---- a request ---- */

/* Let recv() wait. Each child says so for itself: another build of the module
 * may have parked it. */
static int let_wait(int fd)
{
    struct timeval limit = {.tv_usec = APPPOOL_CONNECTION_RECEIVE};

    return setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0;
}

/* @return 1: it has the shared connection, and the request can be sent */
static int reuse_shared(apppool_app_connection_t *c)
{
    int fd = take_copy(c->id, c->shared->state.serial);

    c->waits = fd >= 0;
    if (fd < 0)
        fd = apppool_parked_copy(c->shared);
    if (fd < 0)
        return 0;
    c->waits = c->waits || let_wait(fd);
    if (!apppool_parked_is_quiet(fd)) {
        close(fd);
        if (c->may_fail)
            count_failures(c->id, 1);
        return 0;
    }
    c->fd = fd;
    return 1;
}

/* @return 1: it has a connection that this child has kept, and the request can
 * be sent */
static int reuse_idle(apppool_app_connection_t *c)
{
    int fd;

    while ((fd = apppool_kept_take(c->id)) >= 0) {
        if (apppool_parked_is_quiet(fd)) {
            c->fd = fd;
            c->waits = 1;
            return 1;
        }
        close(fd);
    }
    return 0;
}

static int reuse(apppool_app_connection_t *c,
                 const apppool_endpoint_t *endpoint)
{
    if (c->shared)
        return c->shared->is_taken && reuse_shared(c);
    return c->may_idle && endpoint->may_reuse && reuse_idle(c);
}

apr_status_t apppool_app_connection_open(apppool_app_connection_t *c,
                                         const apppool_endpoint_t *endpoint,
                                         apppool_parked_t *shared,
                                         int64_t deadline, apr_pool_t *p)
{
    apr_status_t rv;

    c->fd = -1;
    c->id = endpoint->id;
    c->shared = shared->is_held ? shared : NULL;
    c->may_idle = !c->shared && endpoint->keep;
    c->may_fail = endpoint->wire.protocol == APL_FCGI;
    c->keeps = c->shared || c->may_idle;
    c->reused = reuse(c, endpoint);
    if (c->reused) {
        apppool_in_use_begin(&c->use, c->fd);
        return APR_SUCCESS;
    }
    apppool_parked_cut(shared);
    rv = apppool_connect(&c->sock, endpoint, deadline, p);
    if (rv != APR_SUCCESS) {
        apppool_app_connection_end(c, APPPOOL_CONNECTION_CUT);
        return rv;
    }
    apr_os_sock_get(&c->fd, c->sock);
    c->waits = c->keeps && let_wait(c->fd);
    apppool_in_use_begin(&c->use, c->fd);
    return APR_SUCCESS;
}

/* Park the connection. An app that does not keep connections may have closed it
 * already.
 * @return 0: it was cut */
static int park(const apppool_app_connection_t *c, apppool_parked_t *shared,
                int is_clean)
{
    int may_park =
        is_clean && c->fd >= 0 && (c->reused || apppool_parked_is_quiet(c->fd));

    return apppool_parked_end(shared, c->fd, may_park);
}

/* Take the descriptor from the socket that was made for this request. */
static int keep_descriptor(apppool_app_connection_t *c)
{
    int fd = c->sock ? fcntl(c->fd, F_DUPFD_CLOEXEC, 0) : c->fd;

    if (!c->sock)
        c->fd = -1;
    return fd;
}

static void end_shared(apppool_app_connection_t *c, int is_clean)
{
    apppool_parked_t *shared = c->shared;
    int fd;

    c->shared = NULL;
    if (!shared->is_held || !park(c, shared, is_clean))
        return;
    fd = keep_descriptor(c);
    if (fd >= 0)
        put_copy(c->id, shared->state.serial, fd);
}

void apppool_app_connection_end(apppool_app_connection_t *c,
                                apppool_app_connection_how_t how)
{
    int is_clean = how == APPPOOL_CONNECTION_CLEAN;

    apppool_in_use_end(&c->use);
    if (c->may_fail && c->reused && c->fd >= 0 && how != APPPOOL_CONNECTION_CUT)
        count_failures(c->id, how == APPPOOL_CONNECTION_FAILED);
    if (c->shared)
        end_shared(c, is_clean);
    /* One that cannot wait would block its next request for ever. */
    else if (c->may_idle && c->waits && c->fd >= 0 && is_clean)
        apppool_kept_put(c->id, keep_descriptor(c));
    if (c->sock)
        apr_socket_close(c->sock);
    else
        close_copy(c->fd);
    c->sock = NULL;
    c->fd = -1;
}
