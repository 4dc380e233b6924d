/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/pump/pending.h"

#include <errno.h>
#include <httpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

int apppool_pending_is_empty(const apppool_pending_t *pending)
{
    return !pending->bytes;
}

void apppool_pending_free(apppool_pending_t *pending)
{
    free(pending->bytes);
    *pending = (apppool_pending_t){0};
}

void apppool_pending_keep(apppool_pending_t *pending, const char *bytes,
                          size_t n)
{
    if (n == 0)
        return;
    pending->bytes = ap_realloc(pending->bytes, pending->end + n);
    memcpy(pending->bytes + pending->end, bytes, n);
    pending->end += n;
}

/* @return bytes that the socket has taken; -1: the other end is gone */
static ssize_t send_some(int fd, const char *bytes, size_t n)
{
    size_t done = 0;
    ssize_t one;

    while (done < n) {
        one = send(fd, bytes + done, n - done, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (one < 0 && errno == EINTR)
            continue;
        if (one < 0)
            return errno == EAGAIN ? (ssize_t)done : -1;
        done += (size_t)one;
    }
    return (ssize_t)done;
}

ssize_t apppool_pending_send(apppool_pending_t *pending, int fd)
{
    ssize_t n = pending->bytes ? send_some(fd, pending->bytes + pending->begin,
                                           pending->end - pending->begin)
                               : 0;

    if (n < 0)
        return -1;
    pending->begin += (size_t)n;
    if (pending->begin == pending->end)
        apppool_pending_free(pending);
    return n;
}

ssize_t apppool_pending_put(apppool_pending_t *pending, int fd,
                            const char *bytes, size_t n)
{
    ssize_t before = apppool_pending_send(pending, fd), now = 0;

    if (before < 0)
        return -1;
    if (apppool_pending_is_empty(pending))
        now = send_some(fd, bytes, n);
    if (now < 0)
        return -1;
    apppool_pending_keep(pending, bytes + now, n - (size_t)now);
    return before + now;
}
