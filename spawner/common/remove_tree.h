/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file remove_tree.h
 * @brief Remove files and trees where an app's user may change them meanwhile:
 *        no symbolic link is followed, no mount is entered (open_beneath.h).
 *        libc only.
 *
 * Any depth costs a bounded stack and a bounded number of descriptors. How
 * long it takes depends on the tree, and on who still adds to it.
 */
#ifndef APPPOOL_SPAWNER_COMMON_REMOVE_TREE_H
#define APPPOOL_SPAWNER_COMMON_REMOVE_TREE_H

/** Remove a file or a whole tree. Silent: what cannot be removed stays. */
void remove_tree(int dirfd, const char *name);

#endif
