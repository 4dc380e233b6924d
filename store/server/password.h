/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file password.h
 * @brief The passwords of the spaces, for clients that log in.
 *
 * Lock:  one mutex over the list, which a login takes. The main thread makes
 *        the list; any worker looks into it.
 * Trust: a wrong password is refused after the same time as another wrong one.
 */
#ifndef APPPOOL_STORE_SERVER_PASSWORD_H
#define APPPOOL_STORE_SERVER_PASSWORD_H

#include "store/server/spaces.h"

/** The spaces or the secret may have changed. The main thread. */
void store_password_update(const store_cluster_t *);

/** Is there a secret, so that a TCP client has to log in? Any thread. */
int store_password_is_set(void);

/**
 * The space of this name, if that is its password. One more connection is
 * counted for it. Any thread.
 * @return NULL: it is wrong, or the space has too many connections
 */
store_served_t *store_password_check(const char *name, size_t n_name,
                                     const char *password, size_t n);

#endif
