/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/waiting_clients.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "store/atomic.h"
#include "store/cluster/cluster.h"

/* ---- a list ---- */

uint64_t store_waiting_host(int fd)
{
    struct sockaddr_storage socket;
    socklen_t size = sizeof socket;
    store_address_t address;
    uint64_t host = 0;

    if (getpeername(fd, (struct sockaddr *)&socket, &size) != 0)
        return 0;
    store_address_of((const struct sockaddr *)&socket, &address);
    if (address.family == AF_INET)
        memcpy(&host, &address.u.v4, sizeof address.u.v4);
    else if (address.family == AF_INET6)
        memcpy(&host, &address.u.v6, sizeof host);
    return host;
}

/* @return the place of this host. There is always one: a host has a client, and
 * the list is not full. */
static unsigned place_of(const store_waiting_t *list, uint64_t host)
{
    unsigned i, place = 0;

    for (i = STORE_WAITING_MAX; i-- > 0;) {
        if (list->host[i].n == 0)
            place = i;
        else if (list->host[i].name == host)
            return i;
    }
    return place;
}

void store_waiting_add(store_waiting_t *list, store_waiting_client_t *g,
                       uint64_t host, int64_t now)
{
    g->host = place_of(list, host);
    list->host[g->host].name = host;
    list->host[g->host].n++;
    g->until = now + STORE_WAITING_TIME;
    g->next = NULL;
    g->previous = list->last;
    if (list->last)
        list->last->next = g;
    else
        list->first = g;
    list->last = g;
    list->n++;
}

void store_waiting_remove(store_waiting_t *list, store_waiting_client_t *g)
{
    if (g->previous)
        g->previous->next = g->next;
    else
        list->first = g->next;
    if (g->next)
        g->next->previous = g->previous;
    else
        list->last = g->previous;
    list->host[g->host].n--;
    list->n--;
}

store_waiting_client_t *store_waiting_crowding(const store_waiting_t *list)
{
    store_waiting_client_t *g = list->first;
    unsigned i, most = 0;

    for (i = 0; i < STORE_WAITING_MAX; i++)
        if (list->host[i].n > most)
            most = list->host[i].n;
    while (g && list->host[g->host].n < most)
        g = g->next;
    return g;
}

store_waiting_client_t *store_waiting_due(const store_waiting_t *list,
                                          int64_t now)
{
    if (list->first && now >= list->first->until)
        return list->first;
    return list->n >= STORE_WAITING_MAX ? store_waiting_crowding(list) : NULL;
}

/* ---- clients that have to log in ---- */

static struct {
    pthread_mutex_t guard; /* of the list */
    store_waiting_t list;
    uint32_t n; /* atomic: those that are cut, too */
} logins = {.guard = PTHREAD_MUTEX_INITIALIZER};

/* Its worker gets the end of the stream. */
static void cut(store_waiting_login_t *p)
{
    store_waiting_remove(&logins.list, &p->client);
    p->is_cut = 1;
    shutdown(p->fd, SHUT_RDWR);
}

/* Only the main thread lets clients in, so there are never too many. */
int store_waiting_login_make_room(void)
{
    uint32_t n = STORE_GET(logins.n);
    store_waiting_client_t *crowding;

    if (n < STORE_LOGIN_MAX)
        return 0;
    if (n >= 2 * STORE_LOGIN_MAX)
        return -1;
    pthread_mutex_lock(&logins.guard);
    crowding = store_waiting_crowding(&logins.list);
    if (crowding)
        cut((store_waiting_login_t *)crowding);
    pthread_mutex_unlock(&logins.guard);
    return 1;
}

void store_waiting_login_enter(store_waiting_login_t *p, store_served_t *s,
                               int fd, int64_t now)
{
    uint64_t host = store_waiting_host(fd);

    STORE_ADD(logins.n, 1);
    STORE_ADD(s->locked, 1);
    p->fd = fd;
    pthread_mutex_lock(&logins.guard);
    store_waiting_add(&logins.list, &p->client, host, now);
    pthread_mutex_unlock(&logins.guard);
}

void store_waiting_login_leave(store_waiting_login_t *p, store_served_t *s)
{
    pthread_mutex_lock(&logins.guard);
    if (!p->is_cut)
        store_waiting_remove(&logins.list, &p->client);
    pthread_mutex_unlock(&logins.guard);
    __atomic_sub_fetch(&logins.n, 1, __ATOMIC_RELAXED);
    /* The main thread may free the space now. */
    __atomic_sub_fetch(&s->locked, 1, __ATOMIC_ACQ_REL);
}

int store_waiting_login_is_empty(void)
{
    return STORE_GET(logins.n) == 0;
}
