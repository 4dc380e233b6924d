/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store_config.h
 * @brief Reads the configuration of the store: its spaces, their users,
 *        options.
 *
 * httpd's parent writes the file CONTRACT_STORE_TABLE, a JSON document. Each
 * value is checked. A document with one mistake is refused as a whole, and the
 * store keeps the configuration that it has. What it has about other hosts and
 * TCP clients:
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
 * Errors: NULL, and a sentence in `error`.
 * Trust:  the parent wrote it. But the file is in a directory of the store's
 *         user. So it is read after root's rights were given up, and names no
 *         file that root opens. It may be damaged, so no value is believed.
 */
#ifndef APPPOOL_STORE_SERVER_STORE_CONFIG_H
#define APPPOOL_STORE_SERVER_STORE_CONFIG_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/store_format.h"
#include "store/cluster/cluster.h"

#define STORE_CONFIG_ERROR 256
#define STORE_CONFIG_KEY   32 /* bytes of a socket's name, NUL included */
#define STORE_CONFIG_UIDS  1024
#define STORE_CONFIG_MAX   (8 << 20) /* bytes of the document */

/** AppStoreListen: TCP clients of one space. */
typedef struct {
    store_address_t address;
    uint16_t port;
    char space[STORE_NAME];
} store_config_listen_t;

#define STORE_CONFIG_LISTENS 64

/** One space. */
typedef struct {
    char name[STORE_NAME];
    char key[STORE_CONFIG_KEY]; /**< name of the socket beside the table */
    uint64_t size;              /**< bytes */
    int evict;
    store_space_confirm_t confirm;
    uint32_t max_connections;
    uint32_t n_uids;
    uid_t *uids; /**< users that may connect, besides root */
} store_config_space_t;

typedef struct {
    store_cluster_t cluster; /**< zero: this store is alone */
    unsigned n_listens;
    store_config_listen_t listen[STORE_CONFIG_LISTENS];
    unsigned threads;
    uint32_t max_object; /**< bytes of a value */
    uint32_t save_time;  /**< s: a save at a stop takes no longer */
    uint32_t save_every; /**< s: also while it serves; 0: no */
    unsigned n_spaces;
    store_config_space_t *spaces;
} store_config_t;

/** Read a document. The caller frees the result. */
store_config_t *store_config_parse(const char *text, size_t n,
                                   char error[STORE_CONFIG_ERROR]);

/** Read this file of the directory. */
store_config_t *store_config_read(int dirfd, const char *name,
                                  char error[STORE_CONFIG_ERROR]);

/** May be NULL. */
void store_config_free(store_config_t *);

/** May this user connect to the space? Root may. */
int store_config_admits(const store_config_space_t *, uid_t);

#endif
