/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file user_sockets.h
 * @brief The control sockets of the users of apps: c/UID, one for each user.
 *
 * So the kernel keeps out everybody else: a socket that all may connect to
 * would let any user of the host keep the spawner busy. As the user owns the
 * socket and may change its mode, who connects is looked at all the same
 * (user_sockets_owner()).
 *
 * Errors: a socket that cannot be made is missing, and the log says so.
 * Crash:  the next spawner removes them all and makes its own.
 * Trust:  root's directory; a socket belongs to its user, who may connect to it
 *         and cannot remove it.
 */
#ifndef APPPOOL_SPAWNER_CONTROL_USER_SOCKETS_H
#define APPPOOL_SPAWNER_CONTROL_USER_SOCKETS_H

#include "spawner/state/state.h"

/**
 * Have a socket for each user of the app table who is neither root nor httpd's
 * user, and for no other.
 * @param accept called with the socket's loop_source_t as its owner
 */
void user_sockets_configure(spawner_t *s, loop_ready_t *accept);

/** Whose is it? @param source the owner that `accept` was called with
 * @return USERDB_NOBODY: it is none of these sockets */
uid_t user_sockets_owner(const loop_source_t *source);

/** A new spawner: remove those of the last one. */
void user_sockets_begin(const spawner_t *s);

#endif
