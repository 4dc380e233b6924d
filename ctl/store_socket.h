/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store_socket.h
 * @brief Connects to a socket of the store.
 *
 * Errors: an exit status; the reason was printed.
 * Trust:  the store may have been compromised, and can put a link there to a
 *         socket of another program. So no link is followed, and a socket that
 *         the user of the store has not made is not used.
 */
#ifndef APPPOOL_CTL_STORE_SOCKET_H
#define APPPOOL_CTL_STORE_SOCKET_H

/**
 * Connect.
 * @param dir   the runtime directory
 * @param name  of the socket, in CONTRACT_STORES
 * @param what  it is, for the sentence "there is no ..."
 * @param limit s without a byte of the store
 * @param fd    filled in; to be closed
 */
int store_socket_connect(const char *dir, const char *name, const char *what,
                         int limit, int *fd);

#endif
