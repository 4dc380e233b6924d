/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/lobby.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/socket.h>

static struct {
    pthread_mutex_t guard; /* of the list */
    store_lobby_place_t *first, *last;
    uint32_t n; /* atomic: those that are cut, too */
} lobby = {.guard = PTHREAD_MUTEX_INITIALIZER};

static void take_out(store_lobby_place_t *p)
{
    if (p->previous)
        p->previous->next = p->next;
    else
        lobby.first = p->next;
    if (p->next)
        p->next->previous = p->previous;
    else
        lobby.last = p->previous;
}

/* Its worker gets the end of the stream. */
static void cut(store_lobby_place_t *p)
{
    take_out(p);
    p->is_cut = 1;
    shutdown(p->fd, SHUT_RDWR);
}

/* Only the main thread lets clients in, so there are never too many. */
int store_lobby_make_room(void)
{
    uint32_t n = __atomic_load_n(&lobby.n, __ATOMIC_RELAXED);

    if (n < STORE_LOBBY_MAX)
        return 0;
    if (n >= 2 * STORE_LOBBY_MAX)
        return -1;
    pthread_mutex_lock(&lobby.guard);
    if (lobby.first)
        cut(lobby.first);
    pthread_mutex_unlock(&lobby.guard);
    return 1;
}

void store_lobby_enter(store_lobby_place_t *p, store_served_t *s, int fd)
{
    __atomic_add_fetch(&lobby.n, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&s->locked, 1, __ATOMIC_RELAXED);
    p->fd = fd;
    p->next = NULL;
    pthread_mutex_lock(&lobby.guard);
    p->previous = lobby.last;
    if (lobby.last)
        lobby.last->next = p;
    else
        lobby.first = p;
    lobby.last = p;
    pthread_mutex_unlock(&lobby.guard);
}

void store_lobby_leave(store_lobby_place_t *p, store_served_t *s)
{
    pthread_mutex_lock(&lobby.guard);
    if (!p->is_cut)
        take_out(p);
    pthread_mutex_unlock(&lobby.guard);
    __atomic_sub_fetch(&lobby.n, 1, __ATOMIC_RELAXED);
    /* The main thread may free the space now. */
    __atomic_sub_fetch(&s->locked, 1, __ATOMIC_ACQ_REL);
}

int store_lobby_is_empty(void)
{
    return __atomic_load_n(&lobby.n, __ATOMIC_RELAXED) == 0;
}
