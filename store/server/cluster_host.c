/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/cluster_host.h"

#include <errno.h>
#include <string.h>

#include "store/atomic.h"
#include "store/cluster/role.h"
#include "store/cluster/confirm.h"
#include "store/note.h"
#include "store/server/accept.h"
#include "store/server/admin_socket.h"
#include "store/server/store_listener.h"
#include "store/server/main_loop.h"
#include "store/server/vip_clients.h"

static store_cluster_t config;
static store_worker_t *workers;
static unsigned n_workers;

/* ---- spaces: any thread ---- */

static store_served_t *next(const store_served_t *s)
{
    return STORE_GET_ACQUIRE(s->next);
}

static store_served_t *served_of(const store_space_t *space)
{
    store_served_t *s = store_spaces_list();

    while (s && s->space != space)
        s = next(s);
    return s;
}

static int is_served(const store_served_t *s)
{
    return !STORE_GET(s->gone);
}

static store_space_t *find(const char *name)
{
    const store_served_t *s;

    for (s = store_spaces_list(); s; s = next(s))
        if (is_served(s) && strcmp(s->space->name, name) == 0)
            return s->space;
    return NULL;
}

/* ---- connections ---- */

static void close_clients(void)
{
    unsigned i;

    for (i = 0; i < n_workers; i++)
        store_worker_close(&workers[i]);
}

/* A TCP client has no user on this host. */
static uid_t user_of(int fd)
{
    uid_t uid;

    return store_listener_user(fd, &uid) != 0 || uid == (uid_t)-1 ? 0 : uid;
}

static int admits(store_space_t *space, int fd)
{
    const store_served_t *s = served_of(space);

    return s && is_served(s) && store_spaces_admits(s, user_of(fd));
}

/* The relay also ends at a stop. */
static void serve(store_space_t *space, store_stream_t *stream)
{
    int fd = store_stream_fd(stream);

    if (store_role() == STORE_MASTER && admits(space, fd))
        store_accept_admit(served_of(space), stream, user_of(fd));
    else
        store_stream_close(stream);
}

static void pause_workers(int on)
{
    store_worker_pause(workers, n_workers, on);
}

/* ---- begin ---- */

int store_cluster_host_begin(const store_cluster_t *c, store_worker_t *w,
                             unsigned n)
{
    static const store_cluster_hooks_t hooks = {.config = &config,
                                                .find = find,
                                                .nth = store_spaces_nth,
                                                .generation =
                                                    store_spaces_generation,
                                                .watch = store_loop_watch,
                                                .unwatch = store_loop_unwatch,
                                                .shortage = store_loop_shortage,
                                                .close_clients = close_clients,
                                                .admits = admits,
                                                .serve = serve,
                                                .pause = pause_workers};

    config = *c;
    workers = w;
    n_workers = n;
    store_vip_clients_begin(&hooks);
    return store_role_begin(&hooks);
}

void store_cluster_host_tick(int64_t now)
{
    store_role_tick(now);
    store_vip_clients_tick(now);
}

void store_cluster_host_admit_root(const char *directory)
{
    static const store_admin_request_t requests[] = {
        {"handover\n", store_role_handover},
        {"forget\n", store_role_forget},
        {NULL, NULL}};

    if (store_role() != STORE_ALONE &&
        store_admin_begin(directory, requests) != 0)
        store_note(STORE_WARN,
                   "no handover and no forget is possible: %s/admin: %s",
                   directory, strerror(errno));
}

void store_cluster_host_end(void)
{
    store_admin_end();
    store_vip_clients_end();
    store_role_end();
}

void store_cluster_host_confirm(void)
{
    const store_served_t *s;
    int is_wanted = 0;

    for (s = store_spaces_list(); s; s = next(s))
        is_wanted |=
            is_served(s) && STORE_GET(s->space->confirm) != STORE_CONFIRM_OFF;
    store_confirm_want(is_wanted);
}

int store_cluster_host_can_confirm(void)
{
    return store_role() == STORE_ALONE || store_confirm_is_possible();
}

int store_cluster_host_is(const store_cluster_t *c)
{
    return memcmp(c, &config, sizeof config) == 0;
}
