/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/relay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/clock_ms.h"
#include "store/bell.h"
#include "store/cluster/limit.h"
#include "store/cluster/relay_client.h"
#include "store/note.h"
#include "store/thread.h"

#define EVENTS 128
#define TICK   INT64_C(100) /* ms: a look at the clients that wait */

static struct {
    const store_cluster_hooks_t *hooks;
    store_event_thread_t thread;
    char *buffer;
    unsigned count;                  /* atomic */
    unsigned count_of[STORE_SPACES]; /* atomic; by slot */
    int look;                        /* atomic: at who may stay */
    int is_timed;                    /* a client waits for the clock */
    int64_t tick_at;
} relay;

static store_relay_client_t *of(store_member_t *m)
{
    return (store_relay_client_t *)m;
}

/* ---- its clients ---- */

static void count(const store_space_t *space, int change)
{
    unsigned n = __atomic_add_fetch(&relay.count_of[space->slot],
                                    (unsigned)change, __ATOMIC_RELAXED);

    __atomic_add_fetch(&relay.count, (unsigned)change, __ATOMIC_RELAXED);
    __atomic_store_n(&space->figures->connections, n, __ATOMIC_RELAXED);
}

static void make_ready(store_relay_client_t *c)
{
    store_event_thread_ready(&relay.thread, &c->member);
}

/* It must not be in the ready list. */
static void end(store_relay_client_t *c)
{
    store_event_thread_leave(&relay.thread, &c->member);
    count(c->space, -1);
    store_relay_client_free(c);
}

static void arrive(void *ctx, store_member_t *m)
{
    store_relay_client_t *c = of(m);

    (void)ctx;
    make_ready(c);
    if (store_relay_client_watch(c, relay.thread.epoll) != 0)
        c->must_end = 1;
}

static void take_arrived(void)
{
    store_event_thread_take(&relay.thread, arrive, NULL);
}

/* ---- the thread ---- */

static void look_at_clients(void)
{
    store_member_t *m;

    for (m = relay.thread.all; m; m = m->next) {
        store_relay_client_t *c = of(m);

        if (relay.hooks->admits(c->space, store_stream_fd(c->local.end.stream)))
            continue;
        c->must_end = 1;
        make_ready(c);
    }
}

static void read_bell(void)
{
    store_bell_read(relay.thread.bell);
    take_arrived();
    if (__atomic_exchange_n(&relay.look, 0, __ATOMIC_ACQUIRE))
        look_at_clients();
}

static void look_at_timed(int64_t now)
{
    store_member_t *m;

    if (store_relay_master_is_back())
        relay.tick_at = now;
    if (!relay.is_timed || now < relay.tick_at)
        return;
    relay.tick_at = now + TICK;
    relay.is_timed = 0;
    for (m = relay.thread.all; m; m = m->next)
        if (of(m)->until != 0) {
            relay.is_timed = 1;
            make_ready(of(m));
        }
}

static void serve_ready(int64_t now)
{
    store_member_t *m = store_event_thread_take_ready(&relay.thread), *next;

    for (; m; m = next) {
        store_relay_client_t *c = of(m);

        next = store_event_thread_next(m);
        switch (store_relay_client_turn(c, relay.buffer, now)) {
        case STORE_RELAY_MORE:
            make_ready(c);
            break;
        case STORE_RELAY_OVER:
            end(c);
            continue;
        case STORE_RELAY_IDLE:
            break;
        }
        relay.is_timed |= c->until != 0;
    }
}

static int wait_ms(void)
{
    int64_t left = relay.tick_at - clock_ms();

    if (relay.thread.first)
        return 0;
    if (!relay.is_timed)
        return -1;
    return left < 0 ? 0 : left > TICK ? (int)TICK : (int)left;
}

static void *run(void *ctx)
{
    struct epoll_event events[EVENTS];
    int i, n;

    (void)ctx;
    while (!store_event_thread_is_stopping(&relay.thread)) {
        n = epoll_wait(relay.thread.epoll, events, EVENTS, wait_ms());
        for (i = 0; i < n; i++) {
            store_relay_side_t *side = events[i].data.ptr;

            if (!side) {
                read_bell();
                continue;
            }
            store_relay_client_event(side, events[i].events);
            make_ready(side->client);
        }
        look_at_timed(clock_ms());
        serve_ready(clock_ms());
    }
    take_arrived();
    return NULL;
}

/* ---- for the main thread ---- */

static void release(void)
{
    store_event_thread_close(&relay.thread);
    free(relay.buffer);
    relay.buffer = NULL;
}

int store_relay_begin(const store_cluster_hooks_t *hooks)
{
    int error;

    memset(&relay, 0, sizeof relay);
    relay.hooks = hooks;
    if (store_event_thread_open(&relay.thread) != 0)
        return -1;
    store_relay_master_begin(hooks->config, relay.thread.epoll);
    relay.buffer = malloc(STORE_RELAY_BUFFER);
    if (relay.buffer &&
        store_thread_start(&relay.thread.thread, "relay", run, NULL) == 0)
        return 0;
    error = errno;
    release();
    errno = error;
    return -1;
}

void store_relay_take(store_space_t *space, store_stream_t *stream)
{
    static int64_t refused_at;
    uint64_t n = STORE_GET(relay.count_of[space->slot]);
    store_relay_client_t *c;

    if (store_limit_refuses(space, n, stream, &refused_at))
        return;
    c = store_relay_client_make(space, stream, clock_ms());
    if (!c)
        return;
    count(space, 1);
    store_event_thread_give(&relay.thread, &c->member);
}

void store_relay_look(void)
{
    __atomic_store_n(&relay.look, 1, __ATOMIC_RELEASE);
    store_bell_ring(relay.thread.bell);
}

/* @return its stream; NULL: it cannot be served here */
static store_stream_t *take_back(store_relay_client_t *c)
{
    store_stream_t *stream = c->local.end.stream;

    if (!store_relay_client_is_new(c))
        return NULL;
    c->local.end.stream = NULL;
    return stream;
}

void store_relay_end(void)
{
    store_event_thread_stop(&relay.thread);
    while (relay.thread.all) {
        store_relay_client_t *c = of(relay.thread.all);
        store_space_t *space = c->space;
        store_stream_t *stream = take_back(c);

        end(c);
        if (stream)
            relay.hooks->serve(space, stream);
    }
    release();
}

unsigned store_relay_count(void)
{
    return __atomic_load_n(&relay.count, __ATOMIC_RELAXED);
}
