/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file guarded_socket.h
 * @brief Unix sockets of the spawner that take no descriptors (SCM_RIGHTS) from
 *        the other side, with any version of the kernel.
 *
 * If a receiver does not want the descriptors of a message, the kernel closes
 * them: inside recv(), or inside the close() of a socket with an unread queue.
 * If that is the last reference, the close can take as long as the sender
 * likes: a TCP socket with SO_LINGER and unsent data waits in it, in spite of
 * MSG_DONTWAIT.
 *
 * Linux 6.16 and later refuse descriptors (no_descriptors.h). With an older
 * kernel, the spawner peeks at each message before it takes it. A message with
 * descriptors stays in its queue, and the last reference to the socket is left
 * to a child that exits: an exiting process does not linger. No descriptor
 * ever gets a number in the spawner. To close one that is not the last can
 * block, too: a file of a FUSE mount is flushed then.
 *
 * Errors: -1 with errno.
 * Crash:  the child waits for the end of a pipe of the spawner.
 * Trust:  the other side is hostile.
 */
#ifndef APPPOOL_SPAWNER_PROCESS_GUARDED_SOCKET_H
#define APPPOOL_SPAWNER_PROCESS_GUARDED_SOCKET_H

#include <sys/types.h>

#include "spawner/process/loop.h"

/** Guard a new Unix socket of the spawner. Call this before it is bound or
 * connected, or as soon as it is accepted. */
void guarded_socket_begin(int fd);

/**
 * recv(fd, data, size, MSG_DONTWAIT), but no descriptor is taken.
 * @param sent set to 1 if descriptors were sent along. Then the message is
 *             still in the queue, and nothing behind it can be read: close the
 *             socket with guarded_socket_close()
 */
ssize_t guarded_socket_recv(int fd, void *data, size_t size, int *sent);

/** Close a guarded socket, or any other. This does not wait. */
void guarded_socket_close(int fd);

/** loop_drop() for a guarded socket. */
void guarded_socket_drop(loop_source_t *source);

/** For tests: from now on, act as with a kernel before 6.16. */
void guarded_socket_by_hand(void);

#endif
