/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file listener.h
 * @brief The Unix socket of a space, at which its clients connect.
 *
 * Lock:  none; the main thread.
 * Errors: -1 and errno.
 * Trust: any user may connect, so the store asks the kernel for the user of
 *        each client. The directory belongs to the store.
 */
#ifndef APPPOOL_STORE_SERVER_LISTENER_H
#define APPPOOL_STORE_SERVER_LISTENER_H

#include <sys/types.h>

/** Does this stream socket listen, and is it of that family (AF_UNIX ...)? */
int store_listener_is_of(int fd, int family);

/** Close it; errno stays. @return -1 */
int store_listener_fail(int fd);

/** Make the socket of this path. One that is there is replaced. */
int store_listener_make(const char *path);

/** Is this the listener of that path, and is the path still there? */
int store_listener_is(int fd, const char *path);

/** Are these copies of one socket? */
int store_listener_is_same(int a, int b);

/** Accept one connection. Does not wait. @return -1: EAGAIN: there is none */
int store_listener_accept(int fd, uid_t *uid);

/** The user of a client. */
int store_listener_user(int fd, uid_t *uid);

#endif
