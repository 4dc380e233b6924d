/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file follower.h
 * @brief The slave's side of the replication: a thread that connects to the
 *        virtual address, and applies what the master sends.
 *
 * It keeps what it has until it has the copy of a master (old_copy.h). If the
 * master speaks without TLS, this is about the open space only, and the other
 * spaces stay as they are. When the connection ends it says so; the role
 * decides what follows (role.h). A space that comes later is not in the copy,
 * so the follower connects again and takes all of it. A thread of its own
 * applies all changes, so the items of a key change in the master's order.
 *
 * Lock:  the functions: the main thread. The thread takes bucket locks.
 * Crash: a slave that is killed begins again; its items stay in the memfd.
 * Trust: a master with TLS has proven that it knows the secret. Without TLS it
 *        may be anybody, so it reaches the open space only. All that arrives is
 *        checked all the same (wire.h): a packet that is none ends the
 *        connection.
 */
#ifndef APPPOOL_STORE_CLUSTER_FOLLOWER_H
#define APPPOOL_STORE_CLUSTER_FOLLOWER_H

#include "store/cluster/cluster.h"
#include "store/cluster/follower_state.h"

/** ms after the end of a connection in which the role looks for the address
 * often, because this host may become the master. */
#define STORE_FOLLOWER_LOOKS 5000

/** Start the thread: it connects, and connects again, until it is ended.
 * @return 0, or -1: errno */
int store_follower_begin(const store_cluster_hooks_t *);

/** End the thread, after it has applied what had arrived completely.
 * @param says_bye 1: this store stops; 0: it is promoted, and the master must
 *                 not go on without it */
void store_follower_end(int says_bye);

#endif
