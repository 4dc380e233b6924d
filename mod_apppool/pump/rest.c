/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/pump/rest.h"

#include <errno.h>
#include <httpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

int apppool_rest_is_empty(const apppool_rest_t *rest)
{
    return !rest->bytes;
}

void apppool_rest_free(apppool_rest_t *rest)
{
    free(rest->bytes);
    *rest = (apppool_rest_t){0};
}

void apppool_rest_keep(apppool_rest_t *rest, const char *bytes, size_t n)
{
    if (n == 0)
        return;
    rest->bytes = ap_realloc(rest->bytes, rest->end + n);
    memcpy(rest->bytes + rest->end, bytes, n);
    rest->end += n;
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

ssize_t apppool_rest_send(apppool_rest_t *rest, int fd)
{
    ssize_t n = rest->bytes ? send_some(fd, rest->bytes + rest->begin,
                                        rest->end - rest->begin)
                            : 0;

    if (n < 0)
        return -1;
    rest->begin += (size_t)n;
    if (rest->begin == rest->end)
        apppool_rest_free(rest);
    return n;
}

ssize_t apppool_rest_put(apppool_rest_t *rest, int fd, const char *bytes,
                         size_t n)
{
    ssize_t before = apppool_rest_send(rest, fd), now = 0;

    if (before < 0)
        return -1;
    if (apppool_rest_is_empty(rest))
        now = send_some(fd, bytes, n);
    if (now < 0)
        return -1;
    apppool_rest_keep(rest, bytes + now, n - (size_t)now);
    return before + now;
}
