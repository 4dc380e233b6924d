/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store_listener.h
 * @brief The Unix sockets of the spaces, at which their clients connect.
 *
 * One of each space is in the runtime directory. Others are in those of older
 * instances, whose store this one has replaced (takeover.h): the applications
 * of an older instance know these paths. They are served until the path is
 * gone, which is when that instance ends.
 *
 * Lock:  the main thread.
 * Errors: -1 and errno.
 * Crash: a copy of each is in the mailbox.
 * Trust: any user may connect, so the store asks the kernel for the user of
 *        each client. The directory belongs to the store. Only stores write to
 *        the mailbox; what it has is checked all the same.
 */
#ifndef APPPOOL_STORE_SERVER_STORE_LISTENER_H
#define APPPOOL_STORE_SERVER_STORE_LISTENER_H

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

/** @name Sockets of older instances
 * @{ */
/** Call this once. @param on_connection is called when a client waits */
void store_listener_begin_older(void (*on_connection)(const char *space,
                                                      int fd));

/** Serve this socket of the mailbox, if it is one that has a path. Takes the
 * descriptor. */
void store_listener_take_older(const char *space, int fd);

/** Is this a copy of one that is served? */
int store_listener_stays_older(int fd);

/** Serve no more those of this space; NULL: those whose path is gone.
 * @return 1: one was closed, so its copy in the mailbox has to go */
int store_listener_close_older(const char *space);
/** @} */

#endif
