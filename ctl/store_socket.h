/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store_socket.h
 * @brief Finds a socket of the store, and connects to it.
 *
 * Errors: an exit status; the reason was printed.
 * Trust:  the store may have been compromised, and can put a link there to a
 *         socket of another program. So no link is followed, and a socket that
 *         the user of the store has not made is not used.
 */
#ifndef APPPOOL_CTL_STORE_SOCKET_H
#define APPPOOL_CTL_STORE_SOCKET_H

/**
 * Find the name of a space in the status. Only root and the user of httpd see
 * there which spaces there are. Other users, and whoever asks while the spawner
 * does not respond or the store begins, have to give the whole name.
 * @param word  the name, or its end, as in app_word.h
 * @param space filled in; to be freed
 * @return an exit status; the reason was printed
 */
int store_socket_space(const char *dir, const char *word, char **space);

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
