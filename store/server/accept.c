/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/accept.h"

#include <unistd.h>

#include "store/atomic.h"
#include "store/note.h"
#include "store/cluster/limit.h"
#include "store/cluster/relay.h"
#include "store/cluster/role.h"
#include "store/memory/region.h"
#include "store/server/store_listener.h"
#include "store/server/waiting_clients.h"
#include "store/server/password.h"
#include "store/server/main_loop.h"
#include "store/server/tcp_listener.h"

#define AT_ONCE 64 /* then other events have a turn */

static store_worker_t *workers;
static unsigned n_workers;

void store_accept_begin(store_worker_t *w, unsigned n)
{
    workers = w;
    n_workers = n;
}

static store_worker_t *idlest(void)
{
    store_worker_t *best = workers;
    uint32_t least = UINT32_MAX, n;
    unsigned i;

    for (i = 0; i < n_workers; i++) {
        n = STORE_GET(workers[i].connections);
        if (n < least) {
            least = n;
            best = &workers[i];
        }
    }
    return best;
}

/* Only the main thread counts refusals, so it may use a worker's block. */
static void count_refusal(const store_served_t *s)
{
    store_count(&store_region_figures()->worker[0][s->space->slot],
                STORE_CONNECTIONS_REFUSED, 1);
}

static void refuse_user(store_served_t *s, int fd, uid_t uid, int64_t now)
{
    count_refusal(s);
    close(fd);
    if (store_note_is_due(&s->refused_at, now))
        store_note(STORE_WARN,
                   "space %s: a connection of user %lu is refused, because no "
                   "app with this space runs as that user",
                   s->options.name, (unsigned long)uid);
}

static void give(store_served_t *s, store_stream_t *stream, uid_t uid,
                 uint8_t login)
{
    store_connection_t *c = store_connection_make(s, stream, uid, login);

    if (c)
        store_worker_give(idlest(), c);
}

static void admit(store_served_t *s, store_stream_t *stream, uid_t uid,
                  uint8_t login)
{
    uint32_t n = STORE_GET(s->connections);

    if (store_limit_refuses(s->space, n, stream, &s->full_at))
        count_refusal(s);
    else
        give(s, stream, uid, login);
}

/* It belongs to this space until it logs in, but takes no place there. */
static void admit_locked(store_served_t *s, store_stream_t *stream, int64_t now)
{
    static int64_t full_at;
    int rv = store_waiting_login_make_room();

    if (rv != 0)
        count_refusal(s);
    if (rv != 0 && store_note_is_due(&full_at, now))
        store_note(STORE_WARN,
                   "a TCP client is closed, because %d have not logged in yet",
                   STORE_LOGIN_MAX);
    if (rv < 0)
        store_stream_close(stream);
    else
        give(s, stream, 0, STORE_HAS_TO_LOG_IN);
}

void store_accept_admit(store_served_t *s, store_stream_t *stream, uid_t uid)
{
    admit(s, stream, uid, store_password_is_set() ? STORE_MAY_LOG_IN : 0);
}

void store_accept_locked(store_stream_t *stream, int64_t now)
{
    store_served_t *s = store_spaces_list();

    while (s && s->gone)
        s = s->next;
    if (s)
        admit_locked(s, stream, now);
    else
        store_stream_close(stream);
}

void store_accept(store_served_t *s, int listener, int64_t now)
{
    store_stream_t *stream;
    uid_t uid = 0;
    int i, fd;

    for (i = 0; i < AT_ONCE && !store_role_is_over(); i++) {
        fd = store_listener_accept(listener, &uid);
        if (fd < 0) {
            store_loop_shortage(listener);
            return;
        }
        if (!store_config_admits(&s->options, uid))
            refuse_user(s, fd, uid, now);
        else if (!(stream = store_stream_make(fd, 1, NULL, 0)))
            continue;
        else if (store_role() == STORE_SLAVE)
            store_relay_take(s->space, stream);
        else
            store_accept_admit(s, stream, uid);
    }
}

/* A slave relays what needs no login, and serves nothing itself. */
static void take_tcp(store_served_t *s, store_stream_t *stream, int64_t now)
{
    int has_to_log_in = store_password_is_set();

    if (!s || s->gone || (store_role() == STORE_SLAVE && has_to_log_in))
        store_stream_close(stream);
    else if (store_role() == STORE_SLAVE)
        store_relay_take(s->space, stream);
    else if (has_to_log_in)
        admit_locked(s, stream, now);
    else
        admit(s, stream, 0, 0);
}

void store_accept_tcp(const store_tcp_listener_t *l, int64_t now)
{
    store_served_t *s = store_spaces_find(l->config.space);
    store_stream_t *stream;
    store_address_t peer;
    int i, fd;

    for (i = 0; i < AT_ONCE && !store_role_is_over(); i++) {
        fd = store_tcp_listener_accept(l->fd, &peer);
        if (fd < 0) {
            store_loop_shortage(l->fd);
            return;
        }
        stream = store_stream_make(fd, 1, NULL, 0);
        if (stream)
            take_tcp(s, stream, now);
    }
}
