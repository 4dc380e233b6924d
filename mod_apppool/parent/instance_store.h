/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file instance_store.h
 * @brief The store of an instance: its parts (store_parts.h) and its table
 *        (store_table_write.h).
 *
 * Lock:  none; only the parent.
 * Crash: see lifecycle.h.
 * Trust: nothing is read that the store can write.
 */
#ifndef MOD_APPPOOL_PARENT_INSTANCE_STORE_H
#define MOD_APPPOOL_PARENT_INSTANCE_STORE_H

#include "mod_apppool/parent/instance.h"

/** Make the parts, after apppool_instance_open(). If that fails, it is an error
 * only where a space is configured. */
void apppool_instance_store_open(apppool_instance_t *i);

/** Write the table, if there is a store or one is wanted, and ring its bell.
 * Errors are in the log. @return 1: there is a new table */
int apppool_instance_store_write_table(apppool_instance_t *i, server_rec *s,
                                       apr_pool_t *ptemp);

/** Have the store end that this instance takes over, if there is one. The tables
 * of store and apps have to be there: an instance without them is forgotten. */
void apppool_instance_store_replace(apppool_instance_t *i);

#endif
