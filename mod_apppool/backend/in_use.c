/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/in_use.h"

#include <apr_thread_mutex.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mod_apppool/backend/client_socket.h"

/* Per child. */
static struct {
    apr_thread_mutex_t *mutex; /* NULL: the child has not begun */
    apppool_in_use_t *first;
    int is_stopped;
} used;

void apppool_in_use_init(apr_pool_t *p)
{
    apr_thread_mutex_create(&used.mutex, APR_THREAD_MUTEX_DEFAULT, p);
    used.first = NULL;
    used.is_stopped = 0;
}

static int copy_of(int fd)
{
    return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

/* All threads that wait for the other end are woken. */
static void cut(const apppool_in_use_t *use)
{
    if (use->app >= 0)
        shutdown(use->app, SHUT_RDWR);
    if (use->client >= 0)
        shutdown(use->client, SHUT_RDWR);
}

static void add(apppool_in_use_t *use)
{
    use->has_begun = 1;
    apr_thread_mutex_lock(used.mutex);
    use->next = used.first;
    use->at = &used.first;
    if (use->next)
        use->next->at = &use->next;
    used.first = use;
    if (used.is_stopped)
        cut(use);
    apr_thread_mutex_unlock(used.mutex);
}

void apppool_in_use_begin(apppool_in_use_t *use, int app)
{
    use->app = app;
    use->client = -1;
    use->has_copies = 0;
    add(use);
}

void apppool_in_use_begin_tunnel(apppool_in_use_t *use, int app,
                                 const request_rec *r)
{
    use->app = copy_of(app);
    use->client = copy_of(apppool_client_socket(r->connection));
    use->has_copies = 1;
    add(use);
}

void apppool_in_use_end(apppool_in_use_t *use)
{
    if (!use->has_begun)
        return;
    use->has_begun = 0;
    apr_thread_mutex_lock(used.mutex);
    *use->at = use->next;
    if (use->next)
        use->next->at = use->at;
    apr_thread_mutex_unlock(used.mutex);
    if (use->has_copies && use->app >= 0)
        close(use->app);
    if (use->client >= 0)
        close(use->client);
}

void apppool_in_use_stop(void)
{
    const apppool_in_use_t *use;

    if (!used.mutex)
        return;
    apr_thread_mutex_lock(used.mutex);
    used.is_stopped = 1;
    for (use = used.first; use; use = use->next)
        cut(use);
    apr_thread_mutex_unlock(used.mutex);
}
