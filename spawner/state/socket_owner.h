/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file socket_owner.h
 * @brief Which process's socket is it that sock_diag shows? The path of a
 *        socket is what the program that bound it wrote, in its own mount
 *        namespace: anybody can bind the same one. So the file must be the
 *        same, too.
 *
 * stat() does not show the kernel's device everywhere (btrfs), nor the kernel's
 * inode number (some overlays). A socket that is bound for a moment shows both.
 *
 * Errors: none. Where files cannot be compared, the path alone decides.
 * Trust:  the path is an app's word; the file is the kernel's.
 */
#ifndef APPPOOL_SPAWNER_STATE_SOCKET_OWNER_H
#define APPPOOL_SPAWNER_STATE_SOCKET_OWNER_H

#include "spawner/state/sock_diag.h"
#include "spawner/state/process.h"

/** Find out whether files can be compared here. Once, at the start. */
void socket_owner_learn(const runtime_dir_t *rt);

/** @return NULL: no process's */
process_t *socket_owner_find(const spawner_t *s, const sock_diag_socket_t *at);

#endif
