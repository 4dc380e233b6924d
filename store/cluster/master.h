/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file master.h
 * @brief The master's side of the replication: accepts slaves at the virtual
 *        address, and has one thread for each, which feeds it.
 *
 * A slave first gets all items, and then each changed key (changes.h). No
 * worker ever waits for a slave: a slave that is too slow is dropped, and may
 * join again.
 *
 * Two dialects are known by the first byte of the slave: 0x80 is ours, NUL or
 * nothing for 2 s is yrmcds.
 *
 * There are places for STORE_SLAVES. A connection that has not joined yet gives
 * its place to the next one that comes.
 *
 * Lock:  all functions: the main thread.
 * Trust: AppStorePeers have to know the secret, and speak TLS.
 *        AppStorePlainPeers prove nothing: whatever they speak, they get the
 *        open space only. Others are closed.
 */
#ifndef APPPOOL_STORE_CLUSTER_MASTER_H
#define APPPOOL_STORE_CLUSTER_MASTER_H

#include "store/cluster/cluster.h"

/**
 * Take slaves.
 * @param listener bound to the port `repl` of the virtual address; it stays the
 *                 caller's
 * @return 0, or -1: errno
 */
int store_master_begin(const store_cluster_hooks_t *, int listener);

/** Once a second: timeouts of slaves, their figures, threads that have
 * ended. */
void store_master_tick(int64_t now);

/** Have all slaves got all changes, and has their kernel acknowledged them?
 * No command is served meanwhile (`pause`).
 * @param ms how long to wait
 * @return NULL: they have; why not, which was logged */
const char *store_master_drain(int ms);

/** Close all slaves, end their threads. */
void store_master_end(void);

#endif
