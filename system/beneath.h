/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file beneath.h
 * @brief Opens and removes files below a directory of root's, where an app's
 *        user may change the names meanwhile. It follows no symbolic link and
 *        enters no mount. libc only.
 *
 * A user may mount a file system of their own (FUSE) on their directory. A
 * process that opens a file there waits for that user's program. The file
 * system above the mount knows that the name is a mount.
 *
 * Stack and number of descriptors are bounded, however deep a tree is that is
 * removed. The time depends on the tree, and on processes that still add to it.
 *
 * Errors: -1 with errno; EXDEV: a mount; ELOOP: a symbolic link.
 */
#ifndef APPPOOL_SYSTEM_BENEATH_H
#define APPPOOL_SYSTEM_BENEATH_H

/** openat() with O_CLOEXEC and O_NOFOLLOW. @param flags no O_CREAT */
int beneath_open(int dirfd, const char *name, int flags);

/** Remove a file or a whole tree. What cannot be removed stays, and no error is
 * reported. */
void beneath_remove(int dirfd, const char *name);

#endif
