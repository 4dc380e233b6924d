/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "base/clock_ms.h"
#include "store/atomic.h"
#include "store/bell.h"
#include "store/cluster/confirm.h"
#include "store/memory/changes.h"
#include "store/memory/region.h"
#include "store/note.h"
#include "store/server/waiting_clients.h"
#include "store/thread.h"

#define EVENTS       128
#define LOGINS_AGAIN 500 /* ms from one look at clients without login */

/* A worker waits here while nothing is to be served. */
static struct {
    pthread_mutex_t guard;
    pthread_cond_t changed; /* `on`, `stop` or `is_parked` of a worker */
    int on;                 /* atomic */
} rest = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

static void wake(const store_worker_t *w)
{
    store_bell_ring(w->thread.bell);
}

static store_connection_t *of(store_member_t *m)
{
    return (store_connection_t *)m;
}

/* ---- for the main thread ---- */

void store_worker_give(store_worker_t *w, store_connection_t *c)
{
    STORE_ADD(w->connections, 1);
    store_event_thread_give(&w->thread, &c->member);
}

int store_worker_runs(store_worker_t *w)
{
    uint32_t rounds = STORE_GET(w->rounds);
    int is_parked;

    pthread_mutex_lock(&rest.guard);
    is_parked = w->is_parked;
    pthread_mutex_unlock(&rest.guard);
    wake(w);
    if (rounds == w->seen)
        return is_parked;
    w->seen = rounds;
    return 1;
}

void store_worker_look(store_worker_t *w)
{
    STORE_SET_RELEASE(w->look, 1);
    wake(w);
}

void store_worker_close(store_worker_t *w)
{
    STORE_SET_RELEASE(w->close, 1);
    wake(w);
}

void store_worker_pause(store_worker_t *workers, unsigned n, int on)
{
    unsigned i;

    pthread_mutex_lock(&rest.guard);
    STORE_SET_RELEASE(rest.on, on);
    pthread_cond_broadcast(&rest.changed);
    for (i = 0; i < n && on; i++) {
        wake(&workers[i]);
        while (!workers[i].is_parked)
            pthread_cond_wait(&rest.changed, &rest.guard);
    }
    pthread_mutex_unlock(&rest.guard);
}

void store_worker_stop(store_worker_t *w)
{
    pthread_mutex_lock(&rest.guard);
    STORE_SET_RELEASE(w->thread.stop, 1);
    pthread_cond_broadcast(&rest.changed);
    pthread_mutex_unlock(&rest.guard);
    store_event_thread_stop(&w->thread);
    store_event_thread_close(&w->thread);
    free(w->bench.buffer);
}

/* ---- its connections ---- */

static void make_ready(store_worker_t *w, store_connection_t *c)
{
    store_event_thread_ready(&w->thread, &c->member);
}

/* The positions rise: each change of this thread is behind its last one. */
static void hold(store_worker_t *w, store_connection_t *c)
{
    c->next_held = NULL;
    c->previous_held = w->last_held;
    if (w->last_held)
        w->last_held->next_held = c;
    else
        w->held = c;
    w->last_held = c;
}

static void leave_held(store_worker_t *w, store_connection_t *c)
{
    if (c->previous_held)
        c->previous_held->next_held = c->next_held;
    else
        w->held = c->next_held;
    if (c->next_held)
        c->next_held->previous_held = c->previous_held;
    else
        w->last_held = c->previous_held;
}

/* It must not be in the ready list. */
static void end(store_worker_t *w, store_connection_t *c)
{
    if (c->hold.position)
        leave_held(w, c);
    store_event_thread_leave(&w->thread, &c->member);
    store_connection_free(c);
    __atomic_fetch_sub(&w->connections, 1, __ATOMIC_RELAXED);
}

static void arrive(void *ctx, store_member_t *m)
{
    store_worker_t *w = ctx;
    store_connection_t *c = of(m);

    if (store_connection_begin(c, &w->bench, w->server) != 0)
        end(w, c);
    else if (c->readable)
        make_ready(w, c);
}

static void take_arrived(store_worker_t *w)
{
    store_event_thread_take(&w->thread, arrive, w);
}

static int is_closing(const store_worker_t *w)
{
    return STORE_GET_ACQUIRE(w->close);
}

static void end_all(store_worker_t *w)
{
    STORE_SET_RELEASE(w->close, 0);
    take_arrived(w);
    store_event_thread_take_ready(&w->thread);
    while (w->thread.all)
        end(w, of(w->thread.all));
}

static void note_late(store_worker_t *w, int64_t now)
{
    if (store_note_is_due(&w->late_at, now))
        store_note(STORE_WARN,
                   "a TCP client is closed, because it has not logged in for "
                   "%d s",
                   STORE_LOGIN_TIME / 1000);
}

/* The bell rings at least once a second: store_worker_runs(). */
static void end_late(store_worker_t *w)
{
    int64_t now = clock_ms();
    store_member_t *m;

    if (store_waiting_login_is_empty() || now < w->logins_at)
        return;
    w->logins_at = now + LOGINS_AGAIN;
    for (m = w->thread.all; m; m = m->next) {
        store_connection_t *c = of(m);

        if (c->login_until != 0 && now >= c->login_until && !c->must_end) {
            c->must_end = 1;
            make_ready(w, c);
            note_late(w, now);
        }
    }
}

static void read_bell(store_worker_t *w)
{
    store_member_t *m;

    store_bell_read(w->thread.bell);
    take_arrived(w);
    end_late(w);
    if (__atomic_exchange_n(&w->look, 0, __ATOMIC_ACQUIRE))
        for (m = w->thread.all; m; m = m->next) {
            store_connection_check(of(m));
            make_ready(w, of(m));
        }
}

/* Those whose changes are confirmed. If no slave is left, or all have left
 * meanwhile, all of them: the bell rings at least once a second. */
static void release(store_worker_t *w)
{
    store_connection_t *c = w->held, *next;
    store_confirmed_t all;
    int is_sorted;

    if (!c)
        return;
    all = store_confirm_least(clock_ms());
    is_sorted = all.known == all.strict;
    for (; c; c = next) {
        next = c->next_held;
        if (store_connection_is_confirmed(c, &all)) {
            leave_held(w, c);
            store_connection_release(c, &all);
            make_ready(w, c);
        }
        else if (is_sorted)
            return;
    }
}

/* The changes go to the slaves at once if somebody waits, so that is said
 * before. The look after it: see confirm.h. */
static void end_round(store_worker_t *w)
{
    store_confirm_wait(w->number, w->held ? w->held->hold.position : 0);
    store_changes_ring();
    release(w);
}

/* One turn for each that is ready now. Those that have more to do are in the
 * list of the next round. */
static void serve_ready(store_worker_t *w)
{
    store_member_t *m = store_event_thread_take_ready(&w->thread), *next;

    for (; m && !is_closing(w); m = next) {
        store_connection_t *c = of(m);

        next = store_event_thread_next(m);
        switch (store_connection_turn(c, &w->bench)) {
        case STORE_TURN_MORE:
            make_ready(w, c);
            break;
        case STORE_TURN_OVER:
            end(w, c);
            break;
        case STORE_TURN_HELD:
            hold(w, c);
            break;
        case STORE_TURN_IDLE:
            break;
        }
    }
}

/* ---- the thread ---- */

/* @return 1: it has to stop */
static int park(store_worker_t *w)
{
    int rv;

    pthread_mutex_lock(&rest.guard);
    w->is_parked = 1;
    pthread_cond_broadcast(&rest.changed);
    while (rest.on && !w->thread.stop)
        pthread_cond_wait(&rest.changed, &rest.guard);
    w->is_parked = 0;
    rv = w->thread.stop;
    pthread_mutex_unlock(&rest.guard);
    return rv;
}

static void round_of(store_worker_t *w)
{
    struct epoll_event events[EVENTS];
    /* read_bell() may have taken the ring of a pause or of a close. */
    int now = w->thread.first || STORE_GET_ACQUIRE(w->close) ||
              STORE_GET_ACQUIRE(rest.on);
    int i, n = epoll_wait(w->thread.epoll, events, EVENTS, now ? 0 : -1);

    if (STORE_GET_ACQUIRE(rest.on) && park(w))
        return;
    if (is_closing(w)) {
        end_all(w);
        return;
    }
    for (i = 0; i < n; i++) {
        store_connection_t *c = events[i].data.ptr;

        if (!c) {
            read_bell(w);
            continue;
        }
        store_connection_event(c, events[i].events);
        make_ready(w, c);
    }
    release(w);
    serve_ready(w);
    end_round(w);
    STORE_SET(w->rounds, w->rounds + 1);
}

static void *run(void *ctx)
{
    store_worker_t *w = ctx;

    store_confirm_bell(w->number, w->thread.bell);
    while (!store_event_thread_is_stopping(&w->thread))
        round_of(w);
    end_all(w);
    store_confirm_bell(w->number, -1);
    store_bench_end(&w->bench);
    return NULL;
}

static int prepare(store_worker_t *w)
{
    w->bench.counters = store_region_figures()->worker[w->number];
    w->bench.buffer = malloc(STORE_TURN_BYTES);
    if (!w->bench.buffer || store_event_thread_open(&w->thread) != 0)
        return -1;
    w->bench.epoll = w->thread.epoll;
    return 0;
}

int store_worker_start(store_worker_t *w, unsigned number,
                       const store_server_t *server)
{
    char name[16];

    w->number = number;
    w->server = server;
    snprintf(name, sizeof name, "worker %u", number);
    return prepare(w) == 0 ? store_thread_start(&w->thread.thread, name, run, w)
                           : -1;
}
