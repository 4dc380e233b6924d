/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store.h
 * @brief AppStore: the spaces of the store, and which application has which.
 *
 * A space is memory of the store with a name: the group of one application, or
 * AppStoreSpace. Applications that name the same space share it. All of them
 * have to ask for the same size and options.
 */
#ifndef MOD_APPPOOL_CONFIG_STORE_H
#define MOD_APPPOOL_CONFIG_STORE_H

#include "mod_apppool/config/app.h"

/** Spaces that a store can have. */
#define APPPOOL_STORE_SPACES 256

/** The values of AppStoreConfirm. */
enum {
    APPPOOL_STORE_CONFIRM_OFF,
    APPPOOL_STORE_CONFIRM_ON,
    APPPOOL_STORE_CONFIRM_REFUSE /**< On Refuse */
};

/** The value of AppStore. */
struct apppool_store_t {
    apr_int64_t size;    /**< bytes of a space; 0: none */
    const char *servers; /**< memcached://...; NULL: none */
};

typedef struct {
    const char *name;
    apr_uint64_t key;  /**< of its socket: apl_group_key(name) */
    const char *place; /**< of the first application */
    apr_int64_t size, max_connections;
    int evict;
    int confirm;              /**< APPPOOL_STORE_CONFIRM_... */
    apr_array_header_t *uids; /**< uid_t of its applications, each once */
} apppool_space_t;

/** AppStore: Off, a size, or servers. */
const char *apppool_store_set(cmd_parms *cmd, void *dir, const char *arg);

/** AppStoreConfirm: Off, On, or On Refuse. @param refuse NULL: none */
const char *apppool_store_set_confirm(cmd_parms *cmd, void *dir,
                                      const char *arg, const char *refuse);

/** AppStoreSave: Off, or a path, and a time. cmd->info has two values. */
const char *apppool_store_set_save(cmd_parms *cmd, void *dir, const char *file,
                                   const char *every);

/** Begin the list of a configuration. */
void apppool_store_begin(apr_pool_t *p);

/** Fill in app->space and app->store_servers. */
void apppool_store_resolve(apr_pool_t *p, apppool_app_t *app);

/** Add the space of an application. @return 0: an earlier application has this
 * space with another size or another option; that was logged */
int apppool_store_add(apr_pool_t *p, const apppool_app_t *app);

/** Check all together. @return 0: that was logged */
int apppool_store_check(void);

/** The list of this configuration: apppool_space_t *. */
const apr_array_header_t *apppool_store_spaces(void);

/**
 * The variables with the address of the store, for the application; with
 * AppStoreKey also user and password of its space.
 * @param runtime the runtime directory
 * @return NULL: it has none
 */
apr_hash_t *apppool_store_variables(apr_pool_t *p, const apppool_app_t *app,
                                    const char *runtime);

#endif
