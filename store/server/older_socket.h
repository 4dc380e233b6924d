/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file older_socket.h
 * @brief Sockets of spaces in the runtime directory of an older instance, whose
 *        store this one has replaced (takeover.h).
 *
 * The applications of the older instance know these paths. They are served
 * until the path is gone, which is when that instance ends.
 *
 * Lock:  none; the main thread.
 * Crash: a copy of each is in the mailbox.
 * Trust: only stores write to the mailbox. What it has is checked all the same.
 */
#ifndef APPPOOL_STORE_SERVER_OLDER_SOCKET_H
#define APPPOOL_STORE_SERVER_OLDER_SOCKET_H

/** Call this once. @param on_connection is called when a client waits */
void store_older_socket_begin(void (*on_connection)(const char *space, int fd));

/** Serve this socket of the mailbox, if it is one that has a path. Takes the
 * descriptor. */
void store_older_socket_take(const char *space, int fd);

/** Is this a copy of one that is served? */
int store_older_socket_stays(int fd);

/** Serve no more those of this space; NULL: those whose path is gone.
 * @return 1: one was closed, so its copy in the mailbox has to go */
int store_older_socket_close(const char *space);

#endif
