/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file no_descriptors.h
 * @brief A Unix socket that lets the kernel refuse descriptors (SCM_RIGHTS)
 *        from the other side.
 *
 * A process that may write to a Unix socket may send descriptors along. The
 * receiver pays for that, even if it does not want them
 * (spawner/process/guarded_socket.h says how). Since Linux 6.16 a socket can
 * refuse descriptors: then the sender's sendmsg() fails. If a listening socket
 * refuses, the connections that it accepts refuse as well, even those that
 * already wait in its queue.
 *
 * Errors: -1 with errno.
 * Trust:  the other side is hostile.
 */
#ifndef APPPOOL_BASE_NO_DESCRIPTORS_H
#define APPPOOL_BASE_NO_DESCRIPTORS_H

#include <errno.h>
#include <sys/socket.h>

/* Headers older than 6.16. These two number their options in another way. */
#if !defined(SO_PASSRIGHTS) && !defined(__sparc__) && !defined(__hppa__)
#define SO_PASSRIGHTS 83
#endif

/** Let the kernel refuse. httpd and apppoolctl do nothing else about it.
 * @return 0; -1: the kernel cannot */
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

#endif
