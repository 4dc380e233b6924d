/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file guests.h
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
#ifndef APPPOOL_STORE_SERVER_GUESTS_H
#define APPPOOL_STORE_SERVER_GUESTS_H

#include <stdint.h>

#define STORE_GUESTS_MAX  1024  /* in a list */
#define STORE_GUESTS_TIME 10000 /* ms */

/** The first member of what a list has. */
typedef struct store_guest {
    struct store_guest *next, *previous;
    int64_t until; /**< ms */
    unsigned host; /**< its place in the list */
} store_guest_t;

/** Zero: it is empty. */
typedef struct {
    store_guest_t *first, *last;
    unsigned n;
    struct {
        uint64_t name;
        unsigned n; /**< its guests; 0: the place is free */
    } host[STORE_GUESTS_MAX];
} store_guests_t;

/** The host at the other end of a TCP connection. 0: it has gone already */
uint64_t store_guests_host(int fd);

/** Its time begins. First end those that store_guests_due() names. */
void store_guests_add(store_guests_t *, store_guest_t *, uint64_t host,
                      int64_t now);

void store_guests_remove(store_guests_t *, store_guest_t *);

/** Who has to go for the next one; NULL: the list is empty. */
store_guest_t *store_guests_crowding(const store_guests_t *);

/** The oldest, if its time is over, or who has to go, if the list is full; NULL:
 * nobody. */
store_guest_t *store_guests_due(const store_guests_t *, int64_t now);

#endif
