/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/support/reader.h"

#include <errno.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define PIECES 128 /* of one message */

static size_t appetite = SIZE_MAX;

ssize_t reader_send(void *fd, struct iovec *iov, unsigned n)
{
    const struct msghdr message = {.msg_iov = iov, .msg_iovlen = n};

    return sendmsg(*(const int *)fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void reader_takes(size_t n)
{
    appetite = n;
}

/* The first bytes of these. @return pieces of them */
static size_t cut(const struct msghdr *message, struct iovec *to)
{
    size_t left = appetite, i;

    for (i = 0; i < message->msg_iovlen && left > 0; i++) {
        to[i] = message->msg_iov[i];
        if (to[i].iov_len > left)
            to[i].iov_len = left;
        left -= to[i].iov_len;
    }
    return i;
}

ssize_t __real_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags)
{
    struct iovec pieces[PIECES];
    struct msghdr some = *message;
    ssize_t n;

    if (appetite == SIZE_MAX)
        return __real_sendmsg(fd, message, flags);
    if (appetite == 0 || message->msg_iovlen > PIECES) {
        errno = EAGAIN;
        return -1;
    }
    some.msg_iov = pieces;
    some.msg_iovlen = cut(message, pieces);
    n = __real_sendmsg(fd, &some, flags);
    if (n > 0)
        appetite -= (size_t)n;
    return n;
}
