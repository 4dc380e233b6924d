/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store_table_write.h
 * @brief Writes the store's table, which httpd's parent makes for the store. It
 *        is one JSON document in RUNTIME/m/table.
 *
 *     {"contract": 16, "build": "...", "threads": 4, "max_object": 1048576,
 *      "spaces": [{"name": "shop", "key": "<16 hex digits>", "size": 67108864,
 *                  "evict": true, "confirm": "off", "max_connections": 1024,
 *                  "uids": [33]}],
 *      "cluster": {...}, "listens": [...]}     (store_table_cluster.h)
 *
 * It is written to a new file, which is then renamed. What the store
 * needs before it reads the table is made here, too: the directory of its
 * sockets, the FIFO of its log, the directory of its file, and the link
 * RUNTIME/store.save to that file. The link is not in the table, because the
 * store opens the file while it is root.
 *
 * Crash: an incomplete file has another name and is replaced next time.
 * Trust: the directory m/ belongs to the store's user. So the store can put
 *        anything there at any time, and can change its own table. The parent
 *        opens nothing there that exists, follows no link, and reads nothing.
 */
#ifndef MOD_APPPOOL_PARENT_STORE_TABLE_WRITE_H
#define MOD_APPPOOL_PARENT_STORE_TABLE_WRITE_H

#include <httpd.h>

/**
 * Write the table.
 * @param runtime the runtime directory of the instance
 * @param base    AppPoolRuntimeDir, whose last part names this httpd
 * @return 0, or -1: that was logged
 */
int apppool_store_table_write(const char *runtime, const char *base,
                              const char *build, server_rec *main_server,
                              apr_pool_t *p);

#endif
