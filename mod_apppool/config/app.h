/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file app.h
 * @brief An application as it was configured, and the list of all of them.
 *        app_resolve.h makes them. They are constant from then on.
 */
#ifndef MOD_APPPOOL_CONFIG_APP_H
#define MOD_APPPOOL_CONFIG_APP_H

#include <sys/resource.h>

#include "mod_apppool/config/config.h"

/** RLimitCPU, RLimitMEM and RLimitNPROC, httpd's own directives, beside the
 * AppRoot or else of its server. They hold for the processes of an app as they
 * do for CGI scripts. NULL: not set. */
typedef struct {
    const struct rlimit *cpu, *mem, *nproc;
} apppool_rlimits_t;

/** An application. */
struct apppool_app_t {
    apl_app_t pool;           /**< its options for the pool */
    const char *label;        /**< apppool_app_label_all() */
    const char *place;        /**< of its AppRoot */
    const server_rec *server; /**< the virtual host of that */
    const char *base_uri;     /**< as the application knows it */
    const char *restart_dir;  /**< absolute */
    const char *host;         /**< for the Host of our own requests to it */
    const char *real_root;    /**< links followed; NULL: it was not there yet */
    uid_t uid;                /**< its user; USERDB_NOBODY: not known yet */
    const char *user_name;    /**< the name of that; NULL: not known yet */
    uid_t owner;              /**< of AppRoot, where no AppUser runs the app;
                                   USERDB_NOBODY: not known, or not asked for */
    const apppool_dir_t *set; /**< all that was set for it */
#define SETTING(...)
#define KEPT(kind, name, class, field, ...) SETTINGS_MADE_##kind(field)
#define SENT                                KEPT
#include "base/settings.def"
    uint32_t max_suspended; /**< AppMaxLongLived, for connections that hold no
                                 worker; 0: no limit */
    const char *space;      /**< of the store; NULL: none (store.h) */
    const char *store_servers; /**< memcached://...; NULL: none */
    apppool_rlimits_t rlimits;
};

/** Begin the list of a configuration. @param n a guess of its length */
void apppool_app_begin(apr_pool_t *p, int n);

/** Add one to the list. */
void apppool_app_add(apppool_app_t *app);

/** The list of this configuration: const apppool_app_t *, in order. */
const apr_array_header_t *apppool_app_all(void);

/**
 * Set the labels of all apps of a configuration: their short names, for the log
 * and for people, "shop" of "shop[4711]".
 *
 * It is AppGroupName. Without an AppGroupName it is the last name of AppRoot's
 * path; a `current` at its end, as deployments have it, is left out. If several
 * AppRoots would get the same label, each label gets so many names of the path
 * that all labels differ: "alice/shop". If one AppRoot is several applications,
 * AppEnvironment is added: "shop (staging)". So no two applications have the
 * same label.
 */
void apppool_app_label_all(apr_pool_t *p);

/** The app with this pool.name; or NULL. */
const apppool_app_t *apppool_app_find(const char *name);

#endif
