/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file app_table.h
 * @brief The app table: what may be run, as whom, how. Written by httpd's
 *        parent, read by the spawner.
 *
 * A table is constant once it is loaded and lives as long as its pool. It is
 * refused as a whole when anything in it is not as it should be.
 *
 * Errors: a sentence for the log.
 * Trust:  the file must belong to root (or to us) and be writable by nobody
 *         else; its content is then the administrator's will.
 */
#ifndef APPPOOL_SPAWNER_STATE_APP_TABLE_H
#define APPPOOL_SPAWNER_STATE_APP_TABLE_H

#include <apr_hash.h>
#include <apr_pools.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "shm/verbs/checkout.h"

#define TABLE_ERROR_MAX 256

/** RLimitCPU, RLimitMEM and RLimitNPROC, as far as they are set. */
typedef struct {
    int resource; /**< RLIMIT_* */
    struct rlimit to;
} table_rlimit_t;

/** An application; texts are NULL where the table says null. */
typedef struct {
    apl_app_t app;     /**< name, root, key and options, for shm/ */
    const char *label; /**< short name for the log, that no other app has */
    const char *command;
    const char *user, *group;
    uid_t owner; /**< of AppRoot, when `user` is NULL; USERDB_NOBODY: unknown */
    uid_t uid;   /**< that it runs as, and that may look after it;
                      USERDB_NOBODY: unknown */
    int64_t
        uid_at; /**< us: when the process began that says so (apply_table.h); 0:
                         httpd does */
    const char *environment;
    const char *const *env; /**< NAME=value, NULL at the end */
    const char *env_file;   /**< AppEnvFile */
    const char *said;       /**< directives, a line for each: name, words and
                                 place, with tabs between; to be shown */
    const char *log;        /**< a route (log_program.h); NULL: the error log */
    int log_raw;            /**< lines are written as the app prints them */
    const char *notify;     /**< AppNotify: a command */
    const char *base_uri;
    uint32_t listen;   /**< APL_LISTEN_* */
    uint32_t protocol; /**< APL_HTTP ... */
    int notifies;      /**< AppReady notify */
    const char *ready; /**< AppReady: path to ask for; NULL: none */
    const char *host;  /**< with this Host */
    int prestart;
    int64_t start_timeout, stop_timeout; /**< us */
    int64_t memory_limit;                /**< bytes; 0: none */
    int64_t slow_after;                  /**< us; 0: none */
    int64_t hung_stop_timeout;           /**< us */
    int dump_signal;                     /**< AppDumpSignal; 0: none */
    int stop_signal;                     /**< AppStopSignal */
    int64_t drain_timeout;               /**< us; 0: no limit */
    int no_new_privileges;
    table_rlimit_t rlimits[3];
    int n_rlimits;
    uint64_t print; /**< differs when what a process was made from does */
} table_app_t;

typedef struct {
    apr_pool_t *pool;
    uint32_t config; /**< generation */
    uint32_t max_pool_size;
    char instance[17];
    apl_capacity_t capacity; /**< of the segment */
    uid_t httpd_uid;
    gid_t httpd_gid;
    const char *error_log; /**< NULL: stderr */
    int log_level;         /**< LogLevel, as httpd numbers them */
    uint32_t n;
    table_app_t *apps;
    apr_hash_t *by_name; /**< of them, table_app_t */
} table_t;

/**
 * Load a table into a pool of its own.
 * @param error filled in on failure, TABLE_ERROR_MAX bytes
 * @return NULL: refused
 */
table_t *table_load(int dirfd, const char *name, apr_pool_t *parent,
                    char *error);

/** The same from a text, for table_load() and tests. */
table_t *table_parse(const char *text, size_t length, apr_pool_t *parent,
                     char *error);

/** @return NULL: there is no app of that name, or no index (a table of
 * zeros has no apps) */
const table_app_t *table_find(const table_t *table, const char *name);

#endif
