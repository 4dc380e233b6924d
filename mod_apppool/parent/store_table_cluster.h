/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store_table_cluster.h
 * @brief The part of the store's table that is about other hosts and TCP
 *        clients (store/server/store_config.h draws it).
 *
 * Lock:  none; only the parent writes.
 * Crash: not concerned.
 * Trust: the secret is in memory of the parent only while it writes the table,
 *        because its children inherit its memory.
 */
#ifndef MOD_APPPOOL_PARENT_STORE_TABLE_CLUSTER_H
#define MOD_APPPOOL_PARENT_STORE_TABLE_CLUSTER_H

#include <jansson.h>

#include "mod_apppool/config/config.h"

/** Add it to the table. @return 0, or -1: that was logged */
int apppool_store_table_cluster(json_t *table, const apppool_server_t *server,
                                apr_pool_t *p);

/** Overwrite the secret. Before the table is freed. */
void apppool_store_table_cluster_forget(json_t *table);

#endif
