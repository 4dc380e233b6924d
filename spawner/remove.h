/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file remove.h
 * @brief Remove files and trees without following a symbolic link, also
 *        where an app's user may change them meanwhile. libc only.
 */
#ifndef APPPOOL_REMOVE_H
#define APPPOOL_REMOVE_H

/** Remove a file or a whole tree; no deeper than 16. Silent. */
void remove_tree(int dirfd, const char *name);

#endif
