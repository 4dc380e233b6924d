/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file app_table.h
 * @brief The app table: which applications may run, as which user, and how.
 *        httpd's parent writes it, and the spawner reads it
 *        (mod_apppool/parent/app_table_write.c).
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
#include <sys/resource.h>
#include <sys/types.h>

#include "base/settings.h"
#include "shm/verbs/checkout.h"

#define APP_TABLE_ERROR_MAX 256

/** RLimitCPU, RLimitMEM and RLimitNPROC, if they are set. */
typedef struct {
    int resource; /**< RLIMIT_* */
    struct rlimit to;
} app_rlimit_t;

/** An application. Besides these fields, those of the scope SENT
 * (base/settings.def). A text is NULL if the table has null. Entries share the
 * texts and lists that are equal. */
typedef struct {
    apl_app_t app;     /**< name, root, key and options, for shm/ */
    const char *label; /**< short name for the log, that no other app has */
    const char *user, *group;
    const char *user_name; /**< it runs as this user, for people; NULL: not
                                known */
    uid_t owner; /**< of AppRoot, when `user` is NULL; USERDB_NOBODY: unknown */
    uid_t uid;   /**< it runs as this user. The user may also manage it.
                      USERDB_NOBODY: unknown */
    int64_t uid_at; /**< us: when the process began from which `uid` is known
                         (apply_table.c); 0: httpd knows it */
    const char *const *env;        /**< NAME=value, NULL at the end */
    const char *const *store_env;  /**< as env, from AppStore */
    const char *restart_dir;       /**< of restart.txt */
    const char *const *directives; /**< for `apppoolctl show`: name, words and
                                        place, with tabs between; NULL at the
                                        end */
    const char *log; /**< a route (log_program.c); NULL: the error log */
    const char *error_format; /**< of lines for an error log (log.h);
                                   NULL: httpd's own */
    const char *base_uri;
    int notifies;      /**< AppReady notify */
    const char *ready; /**< AppReady: path to ask for; NULL: none */
    const char *host;  /**< with this Host */
    int preload;       /**< AppPreload: CONTRACT_PRELOAD_* */
#define SETTING(...)
#define SENT(kind, name, class, field, ...) SETTINGS_MADE_##kind(field)
#include "base/settings.def"
    app_rlimit_t rlimits[3];
    int n_rlimits;
    uint64_t print; /**< it changes with what a process is made from. Then the
                         processes of the app are replaced */
} app_entry_t;

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

/** Load a table from a text, for app_table_load() and tests. */
app_table_t *app_table_parse(const char *text, size_t length,
                             apr_pool_t *parent, char *error);

/** @return NULL: there is no app of that name, or no index (an empty table has
 * none) */
const app_entry_t *app_table_find(const app_table_t *table, const char *name);

#endif
