/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file open_as.h
 * @brief Open a file that belongs to an app, for a process of root's: with the
 *        rights of the app's user if they suffice.
 *
 * Errors: -1 with errno; ELOOP: with root's rights no symbolic link is
 *         followed; EPERM: nor is anything opened but a plain file that has one
 *         name.
 * Trust:  the file may stand in a directory of the app's user, who can put
 *         links to files there that only root may open. So it is opened with
 *         the rights and the groups of that user first. With root's it is
 *         opened only along a path without symbolic links, and only if it has
 *         one name.
 */
#ifndef APPPOOL_SPAWNER_OUTPUT_OPEN_AS_H
#define APPPOOL_SPAWNER_OUTPUT_OPEN_AS_H

#include <sys/types.h>

/**
 * The process has the groups of that user already. Does not wait for the other
 * end of a FIFO.
 * @param flags   of open(2)
 * @param uid     0 or USERDB_NOBODY: none but root
 * @param as_root NULL; or set to 1 if root's rights were needed
 */
int open_as(const char *path, int flags, mode_t mode, uid_t uid, gid_t gid,
            int *as_root);

#endif
