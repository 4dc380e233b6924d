/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file app_entry.h
 * @brief An application as the app table describes it.
 *
 * The table's pool owns an entry. A text is NULL if the table has null. Entries
 * share the texts and lists that are equal.
 */
#ifndef APPPOOL_SPAWNER_PROCESS_APP_ENTRY_H
#define APPPOOL_SPAWNER_PROCESS_APP_ENTRY_H

#include <sys/resource.h>
#include <sys/types.h>

#include "base/settings.h"
#include "shm/verbs/checkout.h"

/** RLimitCPU, RLimitMEM and RLimitNPROC, if they are set. */
typedef struct {
    int resource; /**< RLIMIT_* */
    struct rlimit to;
} app_rlimit_t;

/** Besides these fields, those of the scope SENT (base/settings.def). */
typedef struct {
    apl_app_t app;     /**< name, root, key and options, for shm/ */
    const char *label; /**< short name for the log, that no other app has */
    const char *user, *group;
    uid_t owner; /**< of AppRoot, when `user` is NULL; USERDB_NOBODY: unknown */
    uid_t uid;   /**< it runs as this user. The user may also manage it.
                      USERDB_NOBODY: unknown */
    int64_t uid_at; /**< us: when the process began from which `uid` is known
                         (apply_table.h); 0: httpd knows it */
    const char *const *env;        /**< NAME=value, NULL at the end */
    const char *const *store_env;  /**< the same, of AppStore */
    const char *restart_dir;       /**< of restart.txt */
    const char *const *directives; /**< for `apppoolctl show`: name, words and
                                        place, with tabs between; NULL at the
                                        end */
    const char *log; /**< a route (log_program.h); NULL: the error log */
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
    uint64_t print; /**< app_entry_fingerprint() */
} app_entry_t;

/** @return a number that changes when the configuration that a process is made
 * from changes. Then the processes of the app are replaced */
uint64_t app_entry_fingerprint(const app_entry_t *a);

#endif
