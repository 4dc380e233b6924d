/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/app_output.h"

#include <errno.h>
#include <sys/socket.h>

void apppool_app_output_put(apppool_app_output_t *out, int which, void *bytes,
                            size_t n)
{
    out->parts[which].iov_base = bytes;
    out->parts[which].iov_len = n;
}

int apppool_app_output_is_empty(const apppool_app_output_t *out)
{
    return out->parts[0].iov_len + out->parts[1].iov_len == 0;
}

static void advance(apppool_app_output_t *out, size_t n)
{
    struct iovec *part;
    size_t some;

    for (part = out->parts; n > 0; part++) {
        some = n < part->iov_len ? n : part->iov_len;
        part->iov_base = (char *)part->iov_base + some;
        part->iov_len -= some;
        n -= some;
    }
}

int apppool_app_output_send(apppool_app_output_t *out, int fd)
{
    int first = out->parts[0].iov_len == 0;
    struct msghdr message = {.msg_iov = out->parts + first,
                             .msg_iovlen = first ? 1 : 2};
    ssize_t n;

    if (apppool_app_output_is_empty(out))
        return 0;
    do
        n = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    if (n > 0) {
        out->sent = 1;
        advance(out, (size_t)n);
        return 1;
    }
    if (n < 0 && errno != EAGAIN) {
        out->hung_up = 1;
        out->parts[0].iov_len = out->parts[1].iov_len = 0;
    }
    return 0;
}
