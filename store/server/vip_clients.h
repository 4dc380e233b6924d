/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file vip_clients.h
 * @brief Clients at the port `memcache` of the virtual address.
 *
 * They get the open space (AppStoreOpenSpace), as with yrmcds. Without one,
 * they have to log in, if there is a secret. A connection of one of
 * AppStorePeers may be a relay (store/cluster/relay.h): its first packet names
 * a space. With a secret it speaks TLS. One that says nothing for 10 s is no
 * relay. Only the master serves; a slave closes such connections.
 *
 * Lock:  the main thread.
 * Trust: whoever reaches the address may connect. A relay without TLS has
 *        proven nothing. So it gets the open space only, and with AppStoreKey
 *        nothing.
 */
#ifndef APPPOOL_STORE_SERVER_VIP_CLIENTS_H
#define APPPOOL_STORE_SERVER_VIP_CLIENTS_H

#include "store/cluster/cluster.h"

/** Before the first connection. The hooks must stay. */
void store_vip_clients_begin(const store_cluster_hooks_t *);

/** Accept what waits at this listener of the virtual address, up to a limit. */
void store_vip_clients_accept(int listener);

/** Once a second: decide what becomes of connections that have been silent for
 * too long. */
void store_vip_clients_tick(int64_t now);

/** Close connections that no worker has. */
void store_vip_clients_end(void);

#endif
