/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file relay.h
 * @brief Joins the local clients of a slave to the master. So an application on
 *        any host uses the same socket, and need not know the master.
 *
 *     held ---> joined: bytes pass ---> over
 *       ^          |
 *       +----------+ the master has gone, and the client had sent nothing
 *
 * One thread for all clients. For each one it connects to the virtual address,
 * names the space (STORE_RELAY_SPACE) and then passes bytes in both directions.
 * A direction holds at most 64 KB, and owns memory only while the other end
 * does not take them. While there is no master, a client is held up to 5 s;
 * then it is closed. Its bytes stay in its socket, so it can still be served
 * here: when this host becomes the master, the clients that have sent nothing
 * to a master are, and the others are closed.
 *
 * A client that has gone is forgotten a second later, when the host of the
 * master has its last bytes. A reset tells the master: it may hold a reply for
 * longer (confirm.h).
 *
 * Lock:  the functions: the main thread.
 * Trust: the client is one of the space's users. A master of ours serves the
 *        space to a peer that knows the secret, and the open space to others. A
 *        client of another space is closed if nothing proves which host the
 *        master is.
 *        The relay does not look at what it passes.
 */
#ifndef APPPOOL_STORE_CLUSTER_RELAY_H
#define APPPOOL_STORE_CLUSTER_RELAY_H

#include "store/cluster/relay_master.h"

/** Start the thread. @return 0, or -1: errno */
int store_relay_begin(const store_cluster_hooks_t *);

/** Relay this client, or close it. Takes the stream. */
void store_relay_take(store_space_t *, store_stream_t *);

/** The users of spaces have changed: close the clients that hooks->admits()
 * does not admit any more. */
void store_relay_look(void);

/** The address is here: hand the waiting clients to hooks->serve(), close the
 * others. End the thread. */
void store_relay_end(void);

/** Connections that are relayed or wait. */
unsigned store_relay_count(void);

#endif
