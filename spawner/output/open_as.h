/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file open_as.h
 * @brief Opens a file of an app for a process of root's. It uses the rights of
 *        the app's user, if they suffice, and else those of root.
 *
 * Errors: -1 with errno. With root's rights: ELOOP: there is a symbolic link on
 *         the path; EPERM: it is not a plain file that has one name only.
 * Trust:  the file may be in a directory of the app's user. That user can put
 *         links there to files that only root may open. So the first try has
 *         the rights and the groups of that user. With root's rights, no
 *         symbolic link is followed, and the file must be a plain one that has
 *         one name only.
 */
#ifndef APPPOOL_SPAWNER_OUTPUT_OPEN_AS_H
#define APPPOOL_SPAWNER_OUTPUT_OPEN_AS_H

#include <sys/types.h>

/**
 * The process must have the groups of that user already. This does not wait for
 * the other end of a FIFO.
 * @param flags   of open(2)
 * @param uid     0 or USERDB_NOBODY: root only
 * @param as_root NULL; or set to 1 if root's rights were needed
 */
int open_as(const char *path, int flags, mode_t mode, uid_t uid, gid_t gid,
            int *as_root);

#endif
