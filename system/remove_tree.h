/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file remove_tree.h
 * @brief Removes files and trees that an app's user may change meanwhile. It
 *        follows no symbolic link and enters no mount (open_beneath.h). libc
 *        only.
 *
 * Stack and number of descriptors are bounded, however deep the tree is. The
 * time depends on the tree, and on processes that still add to it.
 */
#ifndef APPPOOL_SYSTEM_REMOVE_TREE_H
#define APPPOOL_SYSTEM_REMOVE_TREE_H

/** Remove a file or a whole tree. What cannot be removed stays, and no error is
 * reported. */
void remove_tree(int dirfd, const char *name);

#endif
