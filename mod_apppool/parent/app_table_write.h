/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file app_table_write.h
 * @brief Writes the app table, which httpd's parent makes for the spawner:
 *        RUNTIME/table. Its first line is a JSON document that says what holds
 *        for all applications, and how many there are. Each line after it is
 *        the document of one application.
 *
 * It is written to a new file, which is then renamed. So the spawner sees the
 * old one or the new one. All keys are always there. The spawner ignores keys
 * that it does not know.
 *
 * Crash: an incomplete file has another name and is overwritten next time.
 * Trust: mode 0600: only this file says what is run, and as which user.
 */
#ifndef MOD_APPPOOL_PARENT_APP_TABLE_WRITE_H
#define MOD_APPPOOL_PARENT_APP_TABLE_WRITE_H

#include <httpd.h>

#include "shm/format/segment.h"

/** What the table has besides the apps of app.h. */
typedef struct {
    const char *runtime;     /**< the directory */
    apl_capacity_t capacity; /**< of the segment */
    apr_uint64_t instance;
    apr_uint32_t generation;
} apppool_app_table_t;

/**
 * Write the table.
 * @return APR_SUCCESS, or what went wrong with the file
 */
apr_status_t apppool_app_table_write(const apppool_app_table_t *table,
                                     server_rec *main_server, apr_pool_t *p);

#endif
