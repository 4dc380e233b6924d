/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file event_thread.h
 * @brief A thread that serves many connections in turns.
 *
 * It has an epoll, edge-triggered. A connection has one owner for its whole
 * life, so no lock is needed. One with something to do is in the ready list. In
 * each round the thread takes the whole list, and gives each connection one
 * turn.
 *
 * What is common to such threads is here. Their rounds are their own.
 *
 * Lock:  any thread may give a connection, and ring. The main thread opens,
 *        stops and closes. All else: the thread itself.
 */
#ifndef APPPOOL_STORE_EVENT_THREAD_H
#define APPPOOL_STORE_EVENT_THREAD_H

#include <pthread.h>

/** The first member of a connection. */
typedef struct store_member {
    struct store_member *next, *previous; /**< of all; `next` also while it
                                               arrives */
    struct store_member *next_ready;
    int is_ready; /**< it is in the ready list */
} store_member_t;

typedef struct {
    pthread_t thread;
    int epoll;
    int bell;                     /**< its event has the mark NULL */
    int stop;                     /**< atomic */
    store_member_t *arrived;      /**< atomic; newest first */
    store_member_t *all;          /**< without those that arrive */
    store_member_t *first, *last; /**< the ready list */
} store_event_thread_t;

/** @name for the main thread
 * @{ */
/** Open epoll and bell. @return 0, or -1: errno, and nothing is open */
int store_event_thread_open(store_event_thread_t *);

/** Make it stop, and wait for its end. It may have members still. */
void store_event_thread_stop(store_event_thread_t *);

/** Close epoll and bell. */
void store_event_thread_close(store_event_thread_t *);
/** @} */

/** Hand a connection over. */
void store_event_thread_give(store_event_thread_t *, store_member_t *);

int store_event_thread_is_stopping(const store_event_thread_t *);

/** Have `arrive` called with each connection that was given. It is in the list
 * of all then, and may leave it. */
void store_event_thread_take(store_event_thread_t *,
                             void (*arrive)(void *ctx, store_member_t *),
                             void *ctx);

/** It ends. It must not be in the ready list. */
void store_event_thread_leave(store_event_thread_t *, store_member_t *);

static inline void store_event_thread_ready(store_event_thread_t *t,
                                            store_member_t *m)
{
    if (m->is_ready)
        return;
    m->is_ready = 1;
    m->next_ready = NULL;
    if (t->first)
        t->last->next_ready = m;
    else
        t->first = m;
    t->last = m;
}

/** @return the ready list, which is empty now */
static inline store_member_t *
store_event_thread_take_ready(store_event_thread_t *t)
{
    store_member_t *m = t->first;

    t->first = t->last = NULL;
    return m;
}

/** Its turn comes. @return the next one of the list */
static inline store_member_t *store_event_thread_next(store_member_t *m)
{
    m->is_ready = 0;
    return m->next_ready;
}

#endif
