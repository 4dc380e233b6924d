/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file open_beneath.h
 * @brief Opens a file below a directory of root's, where an app's user may
 *        change the names. It follows no symbolic link and enters no mount.
 *        libc only.
 *
 * A user may mount a file system of their own (FUSE) on their directory. A
 * process that opens a file there waits for that user's program. The file
 * system above the mount knows that the name is a mount.
 *
 * Errors: -1 with errno; EXDEV: a mount; ELOOP: a symbolic link.
 */
#ifndef APPPOOL_SYSTEM_OPEN_BENEATH_H
#define APPPOOL_SYSTEM_OPEN_BENEATH_H

/** openat() with O_CLOEXEC and O_NOFOLLOW. @param flags no O_CREAT */
int open_beneath(int dirfd, const char *name, int flags);

#endif
