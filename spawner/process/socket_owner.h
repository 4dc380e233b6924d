/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file socket_owner.h
 * @brief Finds the process to which a socket of sock_diag belongs.
 *
 * The path of a socket is the text that a program gave to bind(), in the mount
 * namespace of that program. Any process can bind the same path in another
 * namespace. So the file must be the same, too.
 *
 * stat() does not show the kernel's device everywhere (btrfs), nor the kernel's
 * inode number (some overlays). So the spawner binds a socket of its own once,
 * and compares what stat() and sock_diag say about it.
 *
 * Errors: if files cannot be compared, the path alone decides.
 * Trust:  an app chooses the path. The kernel names the file.
 */
#ifndef APPPOOL_SPAWNER_PROCESS_SOCKET_OWNER_H
#define APPPOOL_SPAWNER_PROCESS_SOCKET_OWNER_H

#include "spawner/process/sock_diag.h"
#include "spawner/process/process.h"

/** Find out whether files can be compared here. Call this once, at the
 * start. */
void socket_owner_learn(const runtime_dir_t *rt);

/** @return NULL: it belongs to no process */
process_t *socket_owner_find(const spawner_t *s, const sock_diag_socket_t *at);

#endif
