/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file waiting_clients.h
 * @brief Connections of peers that have not said yet what they want. They are in
 *        the order of their arrival, and each has the same time. A list that
 *        is full loses one for the next: the oldest of the host that has most.
 *        A peer that has something to say does it at once. So silent peers keep
 *        nobody out, and a host with many connections keeps out only itself.
 *
 * A host is an IPv4 address, or the first 64 bits of an IPv6 address: whoever has
 * one address there can take all of them. So all IPv6 clients of one LAN are one
 * host.
 *
 * Lock:  the caller's.
 */
#ifndef APPPOOL_STORE_SERVER_WAITING_CLIENTS_H
#define APPPOOL_STORE_SERVER_WAITING_CLIENTS_H

#include <stdint.h>

#define STORE_WAITING_MAX  1024  /* in a list */
#define STORE_WAITING_TIME 10000 /* ms */

/** The first member of what a list has. */
typedef struct store_waiting_client {
    struct store_waiting_client *next, *previous;
    int64_t until; /**< ms */
    unsigned host; /**< its place in the list */
} store_waiting_client_t;

/** Zero: it is empty. */
typedef struct {
    store_waiting_client_t *first, *last;
    unsigned n;
    struct {
        uint64_t name;
        unsigned n; /**< its guests; 0: the place is free */
    } host[STORE_WAITING_MAX];
} store_waiting_t;

/** The host at the other end of a TCP connection. 0: it has gone already */
uint64_t store_waiting_host(int fd);

/** Its time begins. First end those that store_waiting_due() names. */
void store_waiting_add(store_waiting_t *, store_waiting_client_t *,
                       uint64_t host, int64_t now);

void store_waiting_remove(store_waiting_t *, store_waiting_client_t *);

/** Who has to go for the next one; NULL: the list is empty. */
store_waiting_client_t *store_waiting_crowding(const store_waiting_t *);

/** The oldest, if its time is over, or who has to go, if the list is full; NULL:
 * nobody. */
store_waiting_client_t *store_waiting_due(const store_waiting_t *, int64_t now);

#endif
