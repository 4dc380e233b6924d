/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file vip_clients.h
 * @brief Clients at the ports `memcache` and `counter` of the virtual address.
 *
 * They get the open space (AppStoreOpenSpace), as with yrmcds. Without one, they
 * have to log in, if there is a secret. A connection of
 * one of AppStorePeers may be a relay (store/cluster/relay.h): its first packet
 * names a space. Only the master serves; a slave closes such connections.
 *
 * Lock:  none; the main thread.
 * Trust: whoever reaches the address may connect. A relay without TLS has been
 *        checked by its address only, so with AppStoreKey it is refused.
 */
#ifndef APPPOOL_STORE_SERVER_VIP_CLIENTS_H
#define APPPOOL_STORE_SERVER_VIP_CLIENTS_H

#include "store/cluster/cluster.h"

/** Listen at both ports. Without a virtual address: nothing. What fails is
 * logged. @return 0, or -1 */
int store_vip_clients_begin(const store_cluster_hooks_t *);

/** Once a second: accept again after a lack of descriptors. */
void store_vip_clients_tick(void);

/** Close listeners, and connections that no worker has. */
void store_vip_clients_end(void);

#endif
