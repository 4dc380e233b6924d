/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/lobby.h"

#include <pthread.h>
#include <sys/socket.h>

static struct {
    pthread_mutex_t guard; /* of the list */
    store_waiting_t list;
    uint32_t n; /* atomic: those that are cut, too */
} lobby = {.guard = PTHREAD_MUTEX_INITIALIZER};

/* Its worker gets the end of the stream. */
static void cut(store_lobby_place_t *p)
{
    store_waiting_remove(&lobby.list, &p->guest);
    p->is_cut = 1;
    shutdown(p->fd, SHUT_RDWR);
}

/* Only the main thread lets clients in, so there are never too many. */
int store_lobby_make_room(void)
{
    uint32_t n = __atomic_load_n(&lobby.n, __ATOMIC_RELAXED);
    store_waiting_client_t *crowding;

    if (n < STORE_LOBBY_MAX)
        return 0;
    if (n >= 2 * STORE_LOBBY_MAX)
        return -1;
    pthread_mutex_lock(&lobby.guard);
    crowding = store_waiting_crowding(&lobby.list);
    if (crowding)
        cut((store_lobby_place_t *)crowding);
    pthread_mutex_unlock(&lobby.guard);
    return 1;
}

void store_lobby_enter(store_lobby_place_t *p, store_served_t *s, int fd,
                       int64_t now)
{
    uint64_t host = store_waiting_host(fd);

    __atomic_add_fetch(&lobby.n, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&s->locked, 1, __ATOMIC_RELAXED);
    p->fd = fd;
    pthread_mutex_lock(&lobby.guard);
    store_waiting_add(&lobby.list, &p->guest, host, now);
    pthread_mutex_unlock(&lobby.guard);
}

void store_lobby_leave(store_lobby_place_t *p, store_served_t *s)
{
    pthread_mutex_lock(&lobby.guard);
    if (!p->is_cut)
        store_waiting_remove(&lobby.list, &p->guest);
    pthread_mutex_unlock(&lobby.guard);
    __atomic_sub_fetch(&lobby.n, 1, __ATOMIC_RELAXED);
    /* The main thread may free the space now. */
    __atomic_sub_fetch(&s->locked, 1, __ATOMIC_ACQ_REL);
}

int store_lobby_is_empty(void)
{
    return __atomic_load_n(&lobby.n, __ATOMIC_RELAXED) == 0;
}
