/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file user_sockets.h
 * @brief The control sockets of the users of apps: c/UID, one for each user.
 *
 * The kernel keeps all other users out. If all users could connect to one
 * socket, any of them could keep the spawner busy. The user owns the socket and
 * may change its mode, so the spawner also checks which user connects
 * (user_sockets_owner()).
 *
 * Errors: a socket that cannot be made is missing, and the log says so
 *         (listener.h), unless there is no memory.
 * Crash:  the next spawner removes them all and makes its own.
 * Trust:  the directory is root's. A socket belongs to its user. This user may
 *         connect to it and cannot remove it.
 */
#ifndef APPPOOL_SPAWNER_CONTROL_USER_SOCKETS_H
#define APPPOOL_SPAWNER_CONTROL_USER_SOCKETS_H

#include "spawner/process/state.h"

/**
 * Make a socket for each user of the app table, except root and httpd's user.
 * Remove all other sockets.
 * @param accept called with the socket's loop_source_t as its owner
 * @return 0; -1: one is missing. Call this again later
 */
int user_sockets_configure(const spawner_t *s, loop_ready_t *accept);

/** The user of a socket. @param source the owner that `accept` was called with
 * @return USERDB_NOBODY: it is none of these sockets */
uid_t user_sockets_owner(const loop_source_t *source);

/** A new spawner: remove the sockets of the last one. */
void user_sockets_begin(const spawner_t *s);

#endif
