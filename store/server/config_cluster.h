/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file config_cluster.h
 * @brief The part of the table that is about other hosts and TCP clients.
 *
 *     "cluster": {"vip": "10.0.0.9", "ports": [11211, 11213],
 *                 "peers": ["10.0.0.1"], "plain": [], "secret": "<hex>",
 *                 "open_space": "shop", "changes": 33554432,
 *                 "slave_timeout": 10},
 *     "listens": [{"address": "127.0.0.1", "port": 11211, "space": "shop"}]
 *
 * `vip`, `secret` and `open_space` may be missing. With a `vip` and without a
 * `secret`, each of `peers` is in `plain`, too. A table without `cluster` is
 * that of a store that is alone and has no secret; `listens` may be missing.
 *
 * Trust: as of store_config.h. httpd has checked the same.
 */
#ifndef APPPOOL_STORE_SERVER_CONFIG_CLUSTER_H
#define APPPOOL_STORE_SERVER_CONFIG_CLUSTER_H

#include "store/cluster/cluster.h"

struct json_t;
struct store_config_value;

/** AppStoreListen: TCP clients of one space. */
typedef struct {
    store_address_t address;
    uint16_t port;
    char space[STORE_NAME];
} store_config_listen_t;

#define STORE_CONFIG_LISTENS 64

/** Read the first one. */
void store_config_cluster_read(struct store_config_value *,
                               const struct json_t *document,
                               store_cluster_t *);

/** Read the second one. @return how many */
unsigned store_config_cluster_listens(struct store_config_value *,
                                      const struct json_t *document,
                                      const store_cluster_t *,
                                      store_config_listen_t *to);

#endif
