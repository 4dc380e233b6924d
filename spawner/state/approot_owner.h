/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file approot_owner.h
 * @brief Whose is AppRoot, where no AppUser runs the app?
 *
 * Its owner runs it. httpd's parent wrote the owner that it saw into the app
 * table. Another owner is believed only when nobody but root and that owner
 * could have put the directory there: else the owner of a link could run the
 * files of somebody else.
 *
 * Called in the forked child only: disks may be slow.
 *
 * Trust: the path is the administrator's; what it leads through is anybody's.
 */
#ifndef APPPOOL_SPAWNER_STATE_APPROOT_OWNER_H
#define APPPOOL_SPAWNER_STATE_APPROOT_OWNER_H

#include <sys/stat.h>

#include "spawner/state/app_table.h"

/**
 * The user that runs this app as the owner of AppRoot. Root's own directory is
 * root's, for the sentence that refuses it.
 * @return USERDB_NOBODY: AppUser runs it, or we are not root, or nobody
 *         knows
 */
uid_t approot_owner_user(const app_entry_t *app);

/**
 * Could nobody but root and this user have put this directory in its place?
 * Each directory on the way, those of symbolic links as well, must belong to
 * one of them and be writable by nobody else. A FUSE file system says of its
 * files what its user likes, so there the answer is no.
 */
int approot_owner_is_held(const char *path, uid_t owner);

/** The same for a file, that was opened: is it the one that the path leads to,
 * and could nobody but root and this user have put it there? */
int approot_owner_holds(const char *path, uid_t owner, const struct stat *file);

#endif
