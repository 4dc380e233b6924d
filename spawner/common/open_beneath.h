/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file open_beneath.h
 * @brief Open what stands below a directory of root's, where an app's user may
 *        change the names: no symbolic link is followed, and no mount is
 *        entered. libc only.
 *
 * A user may mount a file system of its own on its directory (FUSE), and
 * whoever looks at something there waits for that user's program. Whether a
 * name is such a mount is known to the file system that it stands in.
 *
 * Errors: -1 with errno; EXDEV: a mount; ELOOP: a symbolic link.
 */
#ifndef APPPOOL_SPAWNER_COMMON_OPEN_BENEATH_H
#define APPPOOL_SPAWNER_COMMON_OPEN_BENEATH_H

/** openat() with O_CLOEXEC and O_NOFOLLOW. @param flags no O_CREAT */
int open_beneath(int dirfd, const char *name, int flags);

#endif
