/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store_peers.h
 * @brief What proves to the store of AppStoreVirtualIP who another host is:
 *        AppStorePeers, AppStorePlainPeers and AppStoreKey together.
 *
 * Each user of a host can connect from the addresses of the host, so an address
 * proves nothing. A store that has no secret shares the open space only.
 *
 * Lock:  none; once the configuration was read.
 * Crash: not concerned.
 * Trust: the configuration is root's.
 */
#ifndef MOD_APPPOOL_CONFIG_STORE_PEERS_H
#define MOD_APPPOOL_CONFIG_STORE_PEERS_H

#include "mod_apppool/config/store_cluster.h"

/** When the spaces are known: may the store have its virtual address? What it
 * will not share is a warning. @return 0: that was logged */
int apppool_store_peers_check(apr_pool_t *p, const server_rec *main_server);

#endif
