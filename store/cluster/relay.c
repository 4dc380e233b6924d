/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/relay.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock_ms.h"
#include "store/cluster/limit.h"
#include "store/cluster/relay_client.h"
#include "store/note.h"
#include "store/thread.h"

#define EVENTS 128
#define TICK   INT64_C(100) /* ms: a look at the clients that wait */

static struct {
    const store_cluster_hooks_t *hooks;
    pthread_t thread;
    int epoll, bell;
    char *buffer;
    unsigned count;                     /* atomic */
    unsigned count_of[STORE_SPACES];    /* atomic; by slot */
    store_relay_client_t *arrived;      /* atomic; newest first */
    int stop;                           /* atomic */
    int look;                           /* atomic: at who may stay */
    store_relay_client_t *all;          /* the thread's */
    store_relay_client_t *first, *last; /* the ready list */
    int is_timed;                       /* a client waits for the clock */
    int64_t tick_at;
} relay;

static void wake(void)
{
    uint64_t one = 1;

    if (write(relay.bell, &one, sizeof one) < 0) {
        /* EAGAIN: the bell has rung, and the thread is awake. */
    }
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
    if (c->is_ready)
        return;
    c->is_ready = 1;
    c->next_ready = NULL;
    if (relay.first)
        relay.last->next_ready = c;
    else
        relay.first = c;
    relay.last = c;
}

static void adopt(store_relay_client_t *c)
{
    c->previous = NULL;
    c->next = relay.all;
    if (relay.all)
        relay.all->previous = c;
    relay.all = c;
}

/* It must not be in the ready list. */
static void end(store_relay_client_t *c)
{
    if (c->previous)
        c->previous->next = c->next;
    else
        relay.all = c->next;
    if (c->next)
        c->next->previous = c->previous;
    count(c->space, -1);
    store_relay_client_free(c);
}

static void take_arrived(void)
{
    store_relay_client_t *c = __atomic_exchange_n(&relay.arrived, NULL,
                                                  __ATOMIC_ACQUIRE),
                         *next;

    for (; c; c = next) {
        next = c->next;
        adopt(c);
        make_ready(c);
        if (store_relay_client_watch(c, relay.epoll) != 0)
            c->until = 1; /* its time is over: its next turn ends it */
    }
}

/* ---- the thread ---- */

static void look_at_clients(void)
{
    store_relay_client_t *c;

    for (c = relay.all; c; c = c->next)
        if (!relay.hooks->admits(c->space,
                                 store_stream_fd(c->local.end.stream))) {
            c->must_end = 1;
            make_ready(c);
        }
}

static void read_bell(void)
{
    uint64_t rings;

    if (read(relay.bell, &rings, sizeof rings) < 0) {
        /* Another round has read the bell. */
    }
    take_arrived();
    if (__atomic_exchange_n(&relay.look, 0, __ATOMIC_ACQUIRE))
        look_at_clients();
}

static void look_at_timed(int64_t now)
{
    store_relay_client_t *c;

    if (store_relay_master_is_back())
        relay.tick_at = now;
    if (!relay.is_timed || now < relay.tick_at)
        return;
    relay.tick_at = now + TICK;
    relay.is_timed = 0;
    for (c = relay.all; c; c = c->next)
        if (c->until != 0) {
            relay.is_timed = 1;
            make_ready(c);
        }
}

static void serve_ready(int64_t now)
{
    store_relay_client_t *c = relay.first, *next;

    relay.first = relay.last = NULL;
    for (; c; c = next) {
        next = c->next_ready;
        c->is_ready = 0;
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

    if (relay.first)
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
    while (!__atomic_load_n(&relay.stop, __ATOMIC_ACQUIRE)) {
        n = epoll_wait(relay.epoll, events, EVENTS, wait_ms());
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

static int prepare(void)
{
    struct epoll_event event = {EPOLLIN, {.ptr = NULL}};

    relay.buffer = malloc(STORE_RELAY_BUFFER);
    relay.epoll = epoll_create1(EPOLL_CLOEXEC);
    relay.bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (!relay.buffer || relay.epoll < 0 || relay.bell < 0)
        return -1;
    return epoll_ctl(relay.epoll, EPOLL_CTL_ADD, relay.bell, &event);
}

static void release(void)
{
    if (relay.epoll >= 0)
        close(relay.epoll);
    if (relay.bell >= 0)
        close(relay.bell);
    free(relay.buffer);
    relay.buffer = NULL;
}

int store_relay_begin(const store_cluster_hooks_t *hooks)
{
    int error;

    memset(&relay, 0, sizeof relay);
    relay.hooks = hooks;
    if (prepare() == 0) {
        store_relay_master_begin(hooks->config, relay.epoll);
        if (store_thread_start(&relay.thread, "relay", run, NULL) == 0)
            return 0;
    }
    error = errno;
    release();
    errno = error;
    return -1;
}

void store_relay_take(store_space_t *space, store_stream_t *stream)
{
    static int64_t refused_at;
    uint64_t n = STORE_GET(relay.count_of[space->slot]);
    store_relay_client_t *c, *newest;

    if (store_limit_refuses(space, n, stream, &refused_at))
        return;
    c = store_relay_client_make(space, stream, clock_ms());
    if (!c)
        return;
    count(space, 1);
    newest = __atomic_load_n(&relay.arrived, __ATOMIC_RELAXED);
    do {
        c->next = newest;
    } while (!__atomic_compare_exchange_n(&relay.arrived, &newest, c, 1,
                                          __ATOMIC_RELEASE, __ATOMIC_RELAXED));
    /* The thread takes the whole list after it has read the bell. */
    if (!newest)
        wake();
}

void store_relay_look(void)
{
    __atomic_store_n(&relay.look, 1, __ATOMIC_RELEASE);
    wake();
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
    __atomic_store_n(&relay.stop, 1, __ATOMIC_RELEASE);
    wake();
    pthread_join(relay.thread, NULL);
    while (relay.all) {
        store_space_t *space = relay.all->space;
        store_stream_t *stream = take_back(relay.all);

        end(relay.all);
        if (stream)
            relay.hooks->serve(space, stream);
    }
    release();
}

unsigned store_relay_count(void)
{
    return __atomic_load_n(&relay.count, __ATOMIC_RELAXED);
}
