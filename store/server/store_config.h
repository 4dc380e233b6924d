/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store_config.h
 * @brief Reads the configuration of the store: its spaces, their users, options.
 *
 * httpd's parent writes the file CONTRACT_STORE_TABLE, a JSON document. Each
 * value is checked. A document with one mistake is refused as a whole, and the
 * store keeps the configuration that it has.
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
#include "store/server/config_cluster.h"

#define STORE_CONFIG_ERROR 256
#define STORE_CONFIG_KEY   32 /* bytes of a socket's name, NUL included */
#define STORE_CONFIG_UIDS  1024
#define STORE_CONFIG_MAX   (8 << 20) /* bytes of the document */

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
