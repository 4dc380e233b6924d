/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file config.h
 * @brief The settings of the configuration: one struct for those of a place
 *        (server, virtual host, <Location>, <Directory>), one for those of the
 *        whole server, and how they merge.
 *
 * All settings of a place, also of a virtual host, are in httpd's per directory
 * configuration. So a <Location> merges over its virtual host, and a virtual
 * host over the main server. A number that was not set is APPPOOL_UNSET, a text
 * that was not set is NULL. Defaults are added by the accessors below and by
 * app_resolve.h.
 *
 * Another AppRoot below an AppRoot is a different app. It does not inherit
 * these settings: command, group, user, listening, protocol, environment
 * variables and their file.
 *
 * Each AppRoot makes an apppool_mount_t, and merging carries a pointer to it to
 * the requests below. They use the app that app_resolve.h made from the
 * settings beside that AppRoot. Only the settings of the scope REQUEST
 * (base/settings.def) are looked up for each request.
 *
 * Times are microseconds.
 *
 * Trust: the configuration is root's. No directive is legal in .htaccess.
 */
#ifndef MOD_APPPOOL_CONFIG_CONFIG_H
#define MOD_APPPOOL_CONFIG_CONFIG_H

#include <apr_hash.h>
#include <httpd.h>
#include <http_config.h>

#include "base/settings.h"
#include "mod_apppool/config/php_rule.h"
#include "shm/verbs/checkout.h"

#define APPPOOL_UNSET (-1)

/** AppBasePath. */
enum { APPPOOL_BASE_PATH_KEEP, APPPOOL_BASE_PATH_STRIP };

/** Bytes of the name of a space of the store, NUL included. */
#define APPPOOL_SPACE_NAME 64

extern module AP_MODULE_DECLARE_DATA apppool_module;

typedef struct apppool_app_t apppool_app_t;
typedef struct apppool_dir_t apppool_dir_t;
typedef struct apppool_mount_t apppool_mount_t;
typedef struct apppool_sendfile_t apppool_sendfile_t;
typedef struct apppool_store_t apppool_store_t;
typedef struct apppool_store_cluster_t apppool_store_cluster_t;

/** An AppRoot directive: where an application is. That of `AppRoot Off` is
 * empty. */
struct apppool_mount_t {
    const char *place;     /**< "line 12 of /etc/..." */
    const char *base_uri;  /**< "/shop", or "" */
    const char *directory; /**< of its <Directory>; NULL: it is in none */
    server_rec *server;
    const apppool_dir_t *section; /**< NULL: the server's own settings */
    const apppool_app_t *app;     /**< once apppool_app_resolve() has run */
    const char *prefix;           /**< base_uri as in a URL: "/my%20shop" */
    const char *stripped; /**< what the application does not get of a path:
                               base_uri, or "" with AppBasePath keep */
};

/** The rows of base/settings.def, by name: APPPOOL_AppTimeout. */
typedef enum {
#define SETTING(scope, kind, name, ...) APPPOOL_##name,
#include "base/settings.def"
    APPPOOL_SETTINGS
} apppool_setting_id_t;

/* As it was set: a number is APPPOOL_UNSET, and a text NULL, if it was not. */
#define APPPOOL_SET_NUMBER(field) apr_int64_t field;
#define APPPOOL_SET_TEXT(field)   const char *field;
#define APPPOOL_SET_OTHER(field)

/** Settings of a place: those of base/settings.def, and these. */
struct apppool_dir_t {
#define SERVER(...)
#define SETTING(scope, kind, name, class, field, ...)                          \
    SETTINGS_AS(APPPOOL_SET_, kind)(field)
#include "base/settings.def"
    apppool_mount_t *mount;
    const char *user, *user_group;
    apr_hash_t *env; /**< AppSetEnv: name to value */
    const apppool_sendfile_t *sendfile;
    const apppool_php_rules_t *php; /**< of other modules: php_rule.h */
    const apppool_store_t *store;
    apr_hash_t *origins; /**< directives, with their places: config_origin.h */
    const char *misplaced; /**< first directive that belongs to an AppRoot */
    const char *misplaced_place; /**< and its place */
};

/** Settings of the whole server: those of base/settings.def, and these. The
 * path of AppStoreSave is "" for Off. */
typedef struct {
#define SETTING(...)
#define SERVER(kind, name, class, field, ...)                                  \
    SETTINGS_AS(APPPOOL_SET_, kind)(field)
#include "base/settings.def"
    uid_t store_uid; /**< USERDB_NOBODY: the default */
    gid_t store_gid;
    apppool_store_cluster_t *store_cluster; /**< NULL: nothing is set */
    const char *error_format; /**< ErrorLogFormat; of each server its own */
    const apr_array_header_t *apps; /**< of a virtual host, or of the main
                                         server: const apppool_app_t * */
} apppool_server_t;

/** All AppRoots, and all sections with settings, of this configuration. */
typedef struct {
    apr_array_header_t *mounts;   /**< of apppool_mount_t * */
    apr_array_header_t *sections; /**< of apppool_dir_t * */
    int queries; /**< a status page somewhere shows query strings */
} apppool_config_t;

/** Begin a configuration: in pre_config, before any directive is read. */
void apppool_config_begin(apr_pool_t *p);

/** This configuration. */
apppool_config_t *apppool_config(void);

void *apppool_config_dir_create(apr_pool_t *p, char *path);
void *apppool_config_dir_merge(apr_pool_t *p, void *base, void *over);
void *apppool_config_server_create(apr_pool_t *p, server_rec *s);

/** The settings of a mount: the settings of its section, merged over those of
 * its server. */
const apppool_dir_t *apppool_config_dir(apr_pool_t *p,
                                        const apppool_mount_t *mount);

/** Does httpd look for files first? A virtual host that is an application and
 * has no DocumentRoot of its own has no files. */
int apppool_config_mount_has_files(const apppool_mount_t *mount);

/** The settings of the whole server, with defaults. */
apppool_server_t apppool_config_server(const server_rec *main_server);

/** AppStoreSaveTime. @return s; a part of one counts as a whole one */
apr_int64_t apppool_config_save_time(const apppool_server_t *);

/** Once apps are resolved: note which servers have an AppRoot. Those of the
 * main server are also in all virtual hosts. */
void apppool_config_note_mounts(apr_pool_t *p, server_rec *main_server);

/** Can a request of this server belong to an app? */
int apppool_config_has_mount(const server_rec *s);

/** The apps that requests of this server can belong to: const apppool_app_t *,
 * each of them once. */
const apr_array_header_t *apppool_config_apps(const server_rec *s);

/** The app that a request belongs to. @return NULL: none */
const apppool_mount_t *apppool_config_mount(const request_rec *r);

/** AppSendFile of a request; NULL: it is not set. */
const apppool_sendfile_t *apppool_config_sendfile(const request_rec *r);

/** What other modules' directives say about scripts; NULL: nothing. */
const apppool_php_rules_t *apppool_config_php_rules(const request_rec *r);

/** The default of AppFriendlyErrors. */
int apppool_config_is_friendly(const char *environment);

/** A number, or its default. */
static inline apr_int64_t apppool_config_or(apr_int64_t set,
                                            apr_int64_t otherwise)
{
    return set == APPPOOL_UNSET ? otherwise : set;
}

#endif
