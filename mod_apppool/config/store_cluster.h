/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store_cluster.h
 * @brief The directives of the store about other hosts and TCP clients:
 *        AppStoreVirtualIP, AppStorePeers, AppStoreListen ...
 */
#ifndef MOD_APPPOOL_CONFIG_STORE_CLUSTER_H
#define MOD_APPPOOL_CONFIG_STORE_CLUSTER_H

#include "mod_apppool/config/config.h"

#define APPPOOL_STORE_PEERS   32
#define APPPOOL_STORE_LISTENS 64

/** AppStoreListen. */
typedef struct {
    const char *address; /**< as inet_ntop() writes it */
    int port;
    const char *space;
} apppool_store_listen_t;

/** What was set, by the one server that can set it. */
struct apppool_store_cluster_t {
    const char *vip; /**< NULL: none */
    apr_int64_t port[2];
    apr_array_header_t *peers, *plain; /**< const char * */
    apr_array_header_t *listens;       /**< apppool_store_listen_t */
};

/** What was set, or else the defaults. */
const apppool_store_cluster_t *
apppool_store_cluster_of(apr_pool_t *p, const apppool_server_t *server);

const char *apppool_store_cluster_set_vip(cmd_parms *cmd, void *dir,
                                          const char *arg);
const char *apppool_store_cluster_set_ports(cmd_parms *cmd, void *dir,
                                            const char *memcache,
                                            const char *repl,
                                            const char *counter);
/** For each argument of AppStorePeers, AppStorePlainPeers. */
const char *apppool_store_cluster_add_peer(cmd_parms *cmd, void *dir,
                                           const char *arg);
const char *apppool_store_cluster_add_listen(cmd_parms *cmd, void *dir,
                                             const char *where,
                                             const char *space);

/** Check all together, when the spaces are known. Each user of a host can
 * connect from the addresses of the host, so an address proves nothing: a store
 * that has no secret shares the open space only. @return 0: that was logged */
int apppool_store_cluster_check(apr_pool_t *p, const server_rec *main_server);

#endif
