/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store_user.h
 * @brief The user that the store runs as: AppStoreUser, or else the user
 *        apppool-store, or else httpd's user.
 *
 * Trust: the store never runs as root or in root's group. If httpd was not
 *        started as root, the store runs as the same user.
 */
#ifndef MOD_APPPOOL_CONFIG_STORE_USER_H
#define MOD_APPPOOL_CONFIG_STORE_USER_H

#include <httpd.h>
#include <http_config.h>

/** AppStoreUser: a user, and a group. */
const char *apppool_store_user_set(cmd_parms *cmd, void *dir, const char *user,
                                   const char *group);

/** The user, once the configuration was read. */
void apppool_store_user(const server_rec *main_server, uid_t *uid, gid_t *gid);

/** What else runs as this user, and so could read what the store reads.
 * @return NULL: nothing, or httpd was not started as root */
const char *apppool_store_user_other(uid_t uid);

/** May this user have the secret of AppStoreKey? That of httpd or of an
 * application may not, unless httpd was not started as root.
 * @return 0: that was logged */
int apppool_store_user_check(const server_rec *main_server);

#endif
