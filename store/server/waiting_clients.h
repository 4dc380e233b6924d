/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file waiting_clients.h
 * @brief Clients that wait: peers that have not said yet what they want, and
 *        TCP clients that have to log in.
 *
 * Each list is in the order of arrival, and each client has the same time. A
 * list that is full loses one for the next: the oldest of the host that has
 * most. A peer that has something to say does it at once. So silent peers keep
 * nobody out, and a host with many connections keeps out only itself.
 *
 * A host is an IPv4 address, or the first 64 bits of an IPv6 address: whoever
 * has one address there can take all of them. So all IPv6 clients of one LAN
 * are one host.
 *
 * Lock:  that of a list is the caller's. Those that have to log in: any thread;
 *        a mutex guards their list, and nothing is locked under it.
 * Trust: the clients may do anything.
 */
#ifndef APPPOOL_STORE_SERVER_WAITING_CLIENTS_H
#define APPPOOL_STORE_SERVER_WAITING_CLIENTS_H

#include <stdint.h>

#include "store/server/spaces.h"

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
        unsigned n; /**< its clients; 0: the place is free */
    } host[STORE_WAITING_MAX];
} store_waiting_t;

/** The host at the other end of a TCP connection. 0: it has gone already */
uint64_t store_waiting_host(int fd);

/** Its time begins. First end those that store_waiting_due() names. */
void store_waiting_add(store_waiting_t *, store_waiting_client_t *,
                       uint64_t host, int64_t now);

void store_waiting_remove(store_waiting_t *, store_waiting_client_t *);

/** The client that has to go for the next one; NULL: the list is empty. */
store_waiting_client_t *store_waiting_crowding(const store_waiting_t *);

/** The oldest, if its time is over; or the one that has to go, if the list is
 * full; NULL: none. */
store_waiting_client_t *store_waiting_due(const store_waiting_t *, int64_t now);

/** @name Those that have to log in
 * Whoever reaches the port can connect, so these clients take no place of a
 * space (AppStoreMaxConnections). They have a limit of their own, and a time
 * limit. A worker serves them. Until they log in, they belong to some space
 * without being counted there. When there are too many, one of the host with
 * the most is cut.
 * @{ */
#define STORE_LOGIN_MAX                                                        \
    1024                       /* clients; at most as many more are cut, and
                                  their workers have not closed them yet */
#define STORE_LOGIN_TIME 10000 /* ms until a client has logged in */

/** One of them. It begins as zeros. */
typedef struct {
    store_waiting_client_t client; /**< first */
    int fd;
    int is_cut; /**< it is not in the list any more */
} store_waiting_login_t;

/** Before a client enters. The main thread.
 * @return 0; 1: one was cut; -1: the workers have not closed enough of
 *         those that were cut, so nobody may enter */
int store_waiting_login_make_room(void);

/** One more client. The space is not freed before it has left. */
void store_waiting_login_enter(store_waiting_login_t *, store_served_t *,
                               int fd, int64_t now);

/** The client ends, or has logged in. Its descriptor is still open. */
void store_waiting_login_leave(store_waiting_login_t *, store_served_t *);

/** Is there none? */
int store_waiting_login_is_empty(void);
/** @} */

#endif
