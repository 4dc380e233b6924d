/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file accept.h
 * @brief Accepts connections, checks their users, and chooses a worker. A slave
 *        has them relayed to the master.
 *
 * Lock:  the main thread.
 * Trust: the kernel names the user of a client. A space serves root and the
 *        users that the configuration names.
 */
#ifndef APPPOOL_STORE_SERVER_ACCEPT_H
#define APPPOOL_STORE_SERVER_ACCEPT_H

#include "store/server/tcp_listener.h"
#include "store/server/worker.h"

/** The workers that get the connections. */
void store_accept_begin(store_worker_t *workers, unsigned n);

/** Accept what waits at a listener of the space, up to a limit. */
void store_accept(store_served_t *, int listener, int64_t now);

/** Accept what waits at a listener of AppStoreListen. Where there is a secret,
 * its clients have to log in. */
void store_accept_tcp(const store_tcp_listener_t *, int64_t now);

/** Have a worker serve this client, unless there are too many of its space.
 * Takes the stream.
 * @param uid of the client; 0: it is never refused */
void store_accept_admit(store_served_t *, store_stream_t *, uid_t uid);

/** Have a worker serve a client that has no space before it logs in
 * (waiting_clients.h). */
void store_accept_locked(store_stream_t *, int64_t now);

#endif
