/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file admin_socket.h
 * @brief The socket CONTRACT_STORE_ADMIN, by which root asks the store itself.
 *        The socket of a space does not do for that: on a slave it leads to the
 *        master.
 *
 * A request is a line, for example "handover\n". The response is "OK\n", or
 * "ERROR" and a sentence. Then the store closes the connection.
 *
 * Lock:  the main thread.
 * Trust: the kernel names the user of a client. Root may ask, and the owner of
 *        the runtime directory, which is another user if httpd is not root.
 */
#ifndef APPPOOL_STORE_SERVER_ADMIN_SOCKET_H
#define APPPOOL_STORE_SERVER_ADMIN_SOCKET_H

/** What root may ask for. */
typedef struct {
    const char *line;         /**< NULL: the end of the list */
    const char *(*act)(void); /**< does it; returns NULL, or why not */
} store_admin_request_t;

/**
 * Listen, after the spaces are served.
 * @param directory CONTRACT_STORES, absolute; it is in the runtime directory
 * @param requests  stays the caller's
 * @return 0, or -1: errno
 */
int store_admin_begin(const char *directory,
                      const store_admin_request_t *requests);

/** Close and remove the socket. */
void store_admin_end(void);

#endif
