/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file no_descriptors.h
 * @brief Unix sockets take no descriptors (SCM_RIGHTS) from the other side.
 *
 * Whoever may write to a Unix socket may send descriptors along. If the
 * receiver does not want them, the kernel closes them for it, inside recv() or
 * inside the close() of a socket with an unread queue. Where that is the last
 * reference, the close can take as long as the sender likes: a TCP socket with
 * SO_LINGER and unsent data waits in it, in spite of MSG_DONTWAIT.
 *
 * Since Linux 6.16 a socket can refuse descriptors: then sendmsg() fails. A
 * listening socket hands that down to what it accepts, connections that wait
 * in its queue included.
 *
 * With an older kernel, the spawner looks at each message before it takes it.
 * A message with descriptors stays in its queue, and the last reference to the
 * socket is left to a child that exits: an exiting process does not linger.
 * No descriptor ever gets a number in the spawner: also to close one that is
 * not the last can block (a file of a FUSE mount is flushed then).
 *
 * Errors: -1 with errno.
 * Crash:  the child waits for the end of a pipe of the spawner's.
 * Trust:  the other side is hostile.
 */
#ifndef APPPOOL_SPAWNER_SHARED_NO_DESCRIPTORS_H
#define APPPOOL_SPAWNER_SHARED_NO_DESCRIPTORS_H

#include <errno.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "spawner/state/loop.h"

/* Headers older than 6.16. These two number their options in another way. */
#if !defined(SO_PASSRIGHTS) && !defined(__sparc__) && !defined(__hppa__)
#define SO_PASSRIGHTS 83
#endif

/** Let the kernel refuse. For httpd and apppoolctl, which have nothing else.
 * @return 0; -1: it cannot */
static inline int no_descriptors_refuse(int fd)
{
#ifdef SO_PASSRIGHTS
    int pass = 0;

    return setsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &pass, sizeof pass);
#else
    (void)fd;
    errno = ENOPROTOOPT;
    return -1;
#endif
}

/** A Unix socket of the spawner's is new: before it is bound or connected, or
 * as soon as it is accepted. */
void guarded_socket_begin(int fd);

/**
 * recv(fd, data, size, MSG_DONTWAIT), and no descriptor is taken.
 * @param sent set to 1 if descriptors were sent along. The message was then
 *             only looked at, and nothing behind it can be read: what is left
 *             to do is guarded_socket_close()
 */
ssize_t guarded_socket_recv(int fd, void *data, size_t size, int *sent);

/** Close a socket that was guarded, or another one. Does not wait. */
void guarded_socket_close(int fd);

/** loop_drop() for a socket that was guarded. */
void guarded_socket_drop(loop_source_t *source);

/** For tests: from now on as with a kernel before 6.16. */
void guarded_socket_by_hand(void);

#endif
