/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/waiting_clients.h"

#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "store/cluster/cluster.h"

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

/* @return the place of this host. There is always one: a host has a guest, and
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
