/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file privilege.h
 * @brief Finds the user that an app runs as, and becomes that user for good.
 *
 * Only the forked child calls this, as user databases and disks may be slow.
 *
 * Errors: 0, or -1 and a sentence in `error`. The sentence says whether the
 *         user database has no such entry, or the look-up failed. In the latter
 *         case a later start may succeed.
 * Trust:  user, group and owner come from the app table. When httpd was
 *         started as root, an app runs neither as root nor in root's group. No
 *         group is guessed: a user without an entry needs a group in AppUser.
 */
#ifndef APPPOOL_BASE_PRIVILEGE_H
#define APPPOOL_BASE_PRIVILEGE_H

#include <sys/types.h>

#include "base/userdb.h"

#define PRIVILEGE_ERROR_MAX 400

typedef struct {
    uid_t uid;
    gid_t gid;
    int known; /**< the user database has it; else `name` is a number */
    char name[64];
    char home[256];
    char shell[64];
} privilege_t;

/**
 * Find user and group. Without root's rights and without `user`: our own.
 * @param user  name or #number; NULL: `owner`
 * @param group name or #number; NULL: the user's own
 * @param owner of AppRoot, as httpd's parent saw it; or USERDB_NOBODY
 * @param root  for the sentence only
 */
int privilege_find(privilege_t *account, const char *user, const char *group,
                   uid_t owner, const char *root,
                   char error[PRIVILEGE_ERROR_MAX]);

/** Take the supplementary groups of the user, except root's. It does nothing
 * when we are not root. */
int privilege_groups(const privilege_t *account,
                     char error[PRIVILEGE_ERROR_MAX]);

/** Become the user. There is no way back. With `may_gain`, setuid programs work
 * as usual; without it, they gain no rights. */
int privilege_drop(const privilege_t *account, int may_gain,
                   char error[PRIVILEGE_ERROR_MAX]);

#endif
