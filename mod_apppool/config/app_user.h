/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file app_user.h
 * @brief Checks the user and the group that run an app.
 *
 * Trust: no app ever runs as root or in root's group; an httpd that was not
 *        started as root can run apps as its own user only.
 */
#ifndef MOD_APPPOOL_CONFIG_APP_USER_H
#define MOD_APPPOOL_CONFIG_APP_USER_H

#include <apr_pools.h>
#include <sys/stat.h>

#include "base/userdb.h"

/** Another configuration is read: users are looked up again. */
void apppool_app_user_begin(void);

/** The name of a user; "#33" if it has none. */
const char *apppool_app_user_name(apr_pool_t *p, uid_t uid);

/**
 * Check the values of AppUser: names, or numbers after a #. A number without an
 * entry in the user database needs a group.
 * @param group       may be NULL: the user's own
 * @param user_name, group_name its names; a number without entry stays "#33"
 * @return NULL: it is possible; or the sentence that says why not
 */
const char *apppool_app_user_check(apr_pool_t *p, const char *user,
                                   const char *group, const char **user_name,
                                   const char **group_name);

/**
 * Can the owner of this AppRoot run the app, if there is no AppUser?
 * @return NULL: yes; or the sentence that says why not
 */
const char *apppool_app_user_check_owner(apr_pool_t *p, const char *root,
                                         const struct stat *st);

/**
 * The user that runs an app.
 * @param user of AppUser, or NULL: the owner of AppRoot
 * @return USERDB_NOBODY: there is no such user
 */
uid_t apppool_app_user_uid(const char *user, const struct stat *st);

/**
 * May this user (NULL: the owner) enter the directory? Only the directory's own
 * mode and the user's first group are checked. @return 1: yes, or unknown
 */
int apppool_app_user_may_enter(const char *user, const struct stat *st);

#endif
