/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file lobby.h
 * @brief The TCP clients that have to log in and have not done it yet.
 *
 * Whoever reaches the port can connect, so these clients take no place of a
 * space (AppStoreMaxConnections). They have a limit of their own, and a time
 * limit. A worker serves them. Until they log in, they belong to some space
 * without being counted there. When there are too many, one of the host with the
 * most is cut (waiting_clients.h).
 *
 * Lock:  any thread. A mutex guards the list, and nothing is locked under it.
 *        The counts are atomic.
 * Trust: the clients may do anything.
 */
#ifndef APPPOOL_STORE_SERVER_LOBBY_H
#define APPPOOL_STORE_SERVER_LOBBY_H

#include "store/server/waiting_clients.h"
#include "store/server/spaces.h"

#define STORE_LOBBY_MAX                                                        \
    1024                       /* clients; at most as many more are cut, and
                                  their workers have not closed them yet */
#define STORE_LOBBY_TIME 10000 /* ms until a client has logged in */

/** A client in it, in the order of arrival. It begins as zeros. */
typedef struct {
    store_waiting_client_t guest; /**< first */
    int fd;
    int is_cut; /**< it is not in the list any more */
} store_lobby_place_t;

/** Before a client enters. The main thread.
 * @return 0; 1: one was cut; -1: the workers have not closed enough of
 *         those that were cut, so nobody may enter */
int store_lobby_make_room(void);

/** One more client. The space is not freed before it has left. */
void store_lobby_enter(store_lobby_place_t *, store_served_t *, int fd,
                       int64_t now);

/** The client ends, or has logged in. Its descriptor is still open. */
void store_lobby_leave(store_lobby_place_t *, store_served_t *);

int store_lobby_is_empty(void);

#endif
