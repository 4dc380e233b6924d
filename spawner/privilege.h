/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file privilege.h
 * @brief As whom an app runs: find the user, become that user for good.
 *
 * Called in the forked child only: user databases and disks may be slow.
 *
 * Errors: 0, or -1 and a sentence in `error`.
 * Trust:  user and group are the administrator's words. An app never runs as
 *         root when httpd was started as root.
 */
#ifndef APPPOOL_PRIVILEGE_H
#define APPPOOL_PRIVILEGE_H

#include <sys/types.h>

#define PRIVILEGE_ERROR_MAX 400

typedef struct {
    uid_t uid;
    gid_t gid;
    int known; /**< is in the user database; else `name` is a number */
    char name[64];
    char home[256];
    char shell[64];
} privilege_t;

/**
 * @param user  name or #number; NULL: the owner of `root`
 * @param group name or #number; NULL: the user's own
 */
int privilege_find(privilege_t *who, const char *user, const char *group,
                   const char *root, char error[PRIVILEGE_ERROR_MAX]);

/** Take the user's supplementary groups; nothing when we are not root. */
int privilege_groups(const privilege_t *who, char error[PRIVILEGE_ERROR_MAX]);

/** Become the user. There is no way back, nor up by setuid programs. */
int privilege_drop(const privilege_t *who, char error[PRIVILEGE_ERROR_MAX]);

#endif
