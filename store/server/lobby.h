/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file lobby.h
 * @brief The TCP clients that have to log in and have not done it yet.
 *
 * Whoever reaches the port can connect, so these clients take no place of a
 * space (AppStoreMaxConnections). They have a limit of their own, and a time
 * limit. A worker serves them. Until they log in, they belong to some space
 * without being counted there.
 *
 * Lock:  any thread. The counts are atomic.
 * Trust: the clients may do anything.
 */
#ifndef APPPOOL_STORE_SERVER_LOBBY_H
#define APPPOOL_STORE_SERVER_LOBBY_H

#include "store/server/served.h"

#define STORE_LOBBY_MAX  1024  /* clients */
#define STORE_LOBBY_TIME 10000 /* ms until a client has logged in */

/** One more client. The space is not freed before it has left.
 * @return 0, or -1: there are too many */
int store_lobby_enter(store_served_t *);

/** The client has ended, or has logged in. */
void store_lobby_leave(store_served_t *);

int store_lobby_is_empty(void);

#endif
