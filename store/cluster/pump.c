/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/pump.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "store/cluster/relay_pipe.h"
#include "store/thread.h"

#define EVENTS 128

struct pair;

typedef struct {
    struct pair *pair;
    store_relay_end_t end;
} side_t;

typedef struct pair {
    struct pair *next, *previous; /* of all; `next` also while it arrives */
    struct pair *next_ready;
    side_t relay, worker;
    store_relay_pipe_t up, down; /* to the worker, from it */
    int is_ready;
    int told; /* the worker knows that the relay sends no more */
} pair_t;

static struct {
    pthread_t thread;
    int is_running;
    int epoll, bell;
    int stop;        /* atomic */
    pair_t *arrived; /* atomic; newest first */
    pair_t *all, *ready;
    char buffer[STORE_RELAY_BUFFER];
} pump;

/* ---- one pair ---- */

static void free_pair(pair_t *p)
{
    store_stream_close(p->relay.end.stream);
    store_stream_close(p->worker.end.stream);
    free(p->up.rest);
    free(p->down.rest);
    free(p);
}

static void make_ready(pair_t *p)
{
    if (p->is_ready)
        return;
    p->is_ready = 1;
    p->next_ready = pump.ready;
    pump.ready = p;
}

static int watch(side_t *side)
{
    struct epoll_event event = {EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
                                {.ptr = side}};

    return epoll_ctl(pump.epoll, EPOLL_CTL_ADD,
                     store_stream_fd(side->end.stream), &event);
}

/* It must not be in the ready list. */
static void end(pair_t *p)
{
    if (p->previous)
        p->previous->next = p->next;
    else
        pump.all = p->next;
    if (p->next)
        p->next->previous = p->previous;
    free_pair(p);
}

/* The worker closes its end when it has sent all replies, so its end is that of
 * both. @return 1: more to do; 0: an event will come; -1: it is over */
static int turn(pair_t *p)
{
    int up = store_relay_pipe_turn(&p->up, &p->relay.end, &p->worker.end,
                                   pump.buffer),
        down = store_relay_pipe_turn(&p->down, &p->worker.end, &p->relay.end,
                                     pump.buffer);

    if (up < 0 || down < 0 || store_relay_pipe_is_over(&p->down))
        return -1;
    if (store_relay_pipe_is_over(&p->up) && !p->told) {
        p->told = 1;
        shutdown(store_stream_fd(p->worker.end.stream), SHUT_WR);
    }
    return up || down;
}

/* ---- the thread ---- */

static void take_arrived(void)
{
    pair_t *p = __atomic_exchange_n(&pump.arrived, NULL, __ATOMIC_ACQUIRE),
           *next;

    for (; p; p = next) {
        next = p->next;
        p->previous = NULL;
        p->next = pump.all;
        if (pump.all)
            pump.all->previous = p;
        pump.all = p;
        if (watch(&p->relay) != 0 || watch(&p->worker) != 0)
            end(p);
        else
            make_ready(p);
    }
}

static void read_bell(void)
{
    uint64_t rings;

    if (read(pump.bell, &rings, sizeof rings) < 0) {
        /* Another round has read the bell. */
    }
    take_arrived();
}

static void serve_ready(void)
{
    pair_t *p = pump.ready, *next;

    pump.ready = NULL;
    for (; p; p = next) {
        int rv;

        next = p->next_ready;
        p->is_ready = 0;
        rv = turn(p);
        if (rv < 0)
            end(p);
        else if (rv > 0)
            make_ready(p);
    }
}

static void *run(void *ctx)
{
    struct epoll_event events[EVENTS];
    int i, n;

    (void)ctx;
    while (!__atomic_load_n(&pump.stop, __ATOMIC_ACQUIRE)) {
        n = epoll_wait(pump.epoll, events, EVENTS, pump.ready ? 0 : -1);
        for (i = 0; i < n; i++) {
            side_t *side = events[i].data.ptr;

            if (!side) {
                read_bell();
                continue;
            }
            side->end.readable = side->end.writable = 1;
            make_ready(side->pair);
        }
        serve_ready();
    }
    take_arrived();
    pump.ready = NULL;
    while (pump.all)
        end(pump.all);
    return NULL;
}

/* ---- for the main thread ---- */

static int prepare(void)
{
    struct epoll_event event = {EPOLLIN, {.ptr = NULL}};

    pump.epoll = epoll_create1(EPOLL_CLOEXEC);
    pump.bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return pump.epoll < 0 || pump.bell < 0
               ? -1
               : epoll_ctl(pump.epoll, EPOLL_CTL_ADD, pump.bell, &event);
}

static void release(void)
{
    if (pump.epoll >= 0)
        close(pump.epoll);
    if (pump.bell >= 0)
        close(pump.bell);
}

static int start(void)
{
    int error;

    pump.stop = 0;
    pump.is_running = prepare() == 0 &&
                      store_thread_start(&pump.thread, "pump", run, NULL) == 0;
    if (pump.is_running)
        return 0;
    error = errno;
    release();
    errno = error;
    return -1;
}

static void wake(void)
{
    uint64_t one = 1;

    if (write(pump.bell, &one, sizeof one) < 0) {
        /* EAGAIN: the bell has rung, and the thread is awake. */
    }
}

static void give(pair_t *p)
{
    pair_t *newest = __atomic_load_n(&pump.arrived, __ATOMIC_RELAXED);

    do {
        p->next = newest;
    } while (!__atomic_compare_exchange_n(&pump.arrived, &newest, p, 1,
                                          __ATOMIC_RELEASE, __ATOMIC_RELAXED));
    wake();
}

int store_pump_join(store_stream_t *relay, int worker)
{
    store_stream_t *plain = store_stream_make(worker, 1, NULL, 0);
    pair_t *p = plain ? calloc(1, sizeof *p) : NULL;

    if (!p || (!pump.is_running && start() != 0)) {
        store_stream_close(relay);
        store_stream_close(plain);
        free(p);
        return -1;
    }
    p->relay.pair = p->worker.pair = p;
    p->relay.end.stream = relay;
    p->worker.end.stream = plain;
    p->relay.end.readable = p->relay.end.writable = 1;
    p->worker.end.readable = p->worker.end.writable = 1;
    give(p);
    return 0;
}

void store_pump_end(void)
{
    if (!pump.is_running)
        return;
    __atomic_store_n(&pump.stop, 1, __ATOMIC_RELEASE);
    wake();
    pthread_join(pump.thread, NULL);
    release();
    pump.is_running = 0;
}
