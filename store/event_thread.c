/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/event_thread.h"

#include <errno.h>
#include <sys/epoll.h>

#include "store/atomic.h"
#include "store/bell.h"

int store_event_thread_open(store_event_thread_t *t)
{
    struct epoll_event event = {EPOLLIN, {.ptr = NULL}};
    int error;

    t->stop = 0;
    t->epoll = epoll_create1(EPOLL_CLOEXEC);
    t->bell = store_bell_make();
    if (t->epoll >= 0 && t->bell >= 0 &&
        epoll_ctl(t->epoll, EPOLL_CTL_ADD, t->bell, &event) == 0)
        return 0;
    error = errno;
    store_event_thread_close(t);
    errno = error;
    return -1;
}

void store_event_thread_stop(store_event_thread_t *t)
{
    STORE_SET_RELEASE(t->stop, 1);
    store_bell_ring(t->bell);
    pthread_join(t->thread, NULL);
}

void store_event_thread_close(store_event_thread_t *t)
{
    if (t->epoll >= 0)
        close(t->epoll);
    if (t->bell >= 0)
        close(t->bell);
    t->epoll = t->bell = -1;
}

/* The thread takes the whole list after it has read the bell. */
void store_event_thread_give(store_event_thread_t *t, store_member_t *m)
{
    store_member_t *newest = STORE_GET(t->arrived);

    do {
        m->next = newest;
    } while (!__atomic_compare_exchange_n(&t->arrived, &newest, m, 1,
                                          __ATOMIC_RELEASE, __ATOMIC_RELAXED));
    if (!newest)
        store_bell_ring(t->bell);
}

int store_event_thread_is_stopping(const store_event_thread_t *t)
{
    return STORE_GET_ACQUIRE(t->stop);
}

void store_event_thread_take(store_event_thread_t *t,
                             void (*arrive)(void *ctx, store_member_t *),
                             void *ctx)
{
    store_member_t *m =
                       __atomic_exchange_n(&t->arrived, NULL, __ATOMIC_ACQUIRE),
                   *next;

    for (; m; m = next) {
        next = m->next;
        m->previous = NULL;
        m->next = t->all;
        if (t->all)
            t->all->previous = m;
        t->all = m;
        arrive(ctx, m);
    }
}

void store_event_thread_leave(store_event_thread_t *t, store_member_t *m)
{
    if (m->previous)
        m->previous->next = m->next;
    else
        t->all = m->next;
    if (m->next)
        m->next->previous = m->previous;
}
