/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file app_table.h
 * @brief The app table: which applications may run, as which user, and how.
 *        httpd's parent writes it, and the spawner reads it
 *        (mod_apppool/parent/app_table_write.h).
 *
 * A table does not change after it was loaded, and lives as long as its pool.
 * If any part of it is wrong, the whole table is refused.
 *
 * Errors: a sentence for the log.
 * Trust:  the file must belong to root (or to us), and no other user may write
 *         it. Then its content is what the administrator wants.
 */
#ifndef APPPOOL_SPAWNER_PROCESS_APP_TABLE_H
#define APPPOOL_SPAWNER_PROCESS_APP_TABLE_H

#include <apr_hash.h>
#include <apr_pools.h>
#include <sys/types.h>

#include "spawner/process/app_entry.h"

#define APP_TABLE_ERROR_MAX 256

typedef struct {
    apr_pool_t *pool;
    uint32_t config; /**< generation */
    uint32_t max_pool_size;
    char instance[17];
    apl_capacity_t capacity; /**< of the segment */
    uid_t httpd_uid;
    gid_t httpd_gid;
    const char *error_log;    /**< NULL: stderr */
    const char *error_format; /**< of its lines (log.h); NULL: httpd's
                                   own */
    int log_level;            /**< LogLevel, as httpd numbers them */
    uint32_t n;
    app_entry_t *apps;
    apr_hash_t *by_name; /**< of them, app_entry_t */
} app_table_t;

/**
 * Load a table into a pool of its own.
 * @param error filled in on failure, APP_TABLE_ERROR_MAX bytes
 * @return NULL: refused
 */
app_table_t *app_table_load(int dirfd, const char *name, apr_pool_t *parent,
                            char *error);

/** The same from a text, for app_table_load() and tests. */
app_table_t *app_table_parse(const char *text, size_t length,
                             apr_pool_t *parent, char *error);

/** @return NULL: there is no app of that name, or no index (an empty table has
 * none) */
const app_entry_t *app_table_find(const app_table_t *table, const char *name);

#endif
