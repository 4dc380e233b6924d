/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file approot_owner.h
 * @brief Finds the owner of AppRoot. Without AppUser, the app runs as that
 *        user.
 *
 * httpd's parent has written the owner that it saw into the app table. If there
 * is another owner now, the app runs as that owner only if no user except root
 * and that owner could have put the directory there. Otherwise the owner of a
 * symbolic link could run the files of another user.
 *
 * Only the forked child calls this, as disks may be slow.
 *
 * Trust: the path is the administrator's. The directories and links on the way
 *        may belong to any user.
 */
#ifndef APPPOOL_SPAWNER_PROCESS_APPROOT_OWNER_H
#define APPPOOL_SPAWNER_PROCESS_APPROOT_OWNER_H

#include <sys/stat.h>

#include "spawner/process/app_table.h"

/**
 * The user that runs this app as the owner of AppRoot. If that is root, the
 * caller refuses it with a sentence of its own.
 * @return USERDB_NOBODY: AppUser runs it, or we are not root, or it is not
 *         known
 */
uid_t approot_owner_user(const app_entry_t *app);

/**
 * Is it certain that only root or this user have put this directory in its
 * place? Each directory on the way, also those of symbolic links, must belong
 * to one of them, and no other user may write it. On a FUSE file system it is
 * not certain, because its user decides what the file system says about its
 * files.
 */
int approot_owner_is_held(const char *path, uid_t owner);

/** May only root or this user change a file that was opened? The path must lead
 * to that file, and only root or this user may have put it there. */
int approot_owner_holds(const char *path, uid_t owner, const struct stat *file);

#endif
