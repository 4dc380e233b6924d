/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/cluster/tls.h"

struct store_stream {
    int fd;
    store_tls_t *tls; /* NULL: plain */
    short events;
};

store_stream_t *store_stream_make(int fd, int is_server,
                                  const unsigned char *secret,
                                  unsigned n_secret)
{
    store_stream_t *s = calloc(1, sizeof *s);
    int flags = fcntl(fd, F_GETFL);

    if (s && flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0) {
        s->fd = fd;
        s->events = POLLIN;
        if (secret)
            s->tls = store_tls_make(fd, is_server, secret, n_secret);
        if (!secret || s->tls)
            return s;
    }
    free(s);
    close(fd);
    return NULL;
}

int store_stream_handshake(store_stream_t *s)
{
    return s->tls ? store_tls_handshake(s->tls, &s->events) : 0;
}

ssize_t store_stream_read(store_stream_t *s, void *to, size_t n)
{
    ssize_t got;

    if (s->tls)
        return store_tls_read(s->tls, to, n, &s->events);
    do
        got = recv(s->fd, to, n, 0);
    while (got < 0 && errno == EINTR);
    s->events = POLLIN;
    return got;
}

ssize_t store_stream_write(store_stream_t *s, const void *from, size_t n)
{
    ssize_t sent;

    if (s->tls)
        return store_tls_write(s->tls, from, n, &s->events);
    do
        sent = send(s->fd, from, n, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    s->events = POLLOUT;
    return sent;
}

short store_stream_events(const store_stream_t *s)
{
    return s->events;
}

int store_stream_pending(const store_stream_t *s)
{
    return s->tls ? store_tls_pending(s->tls) : 0;
}

int store_stream_fd(const store_stream_t *s)
{
    return s->fd;
}

/* After a call that has failed: wait if the other end was not ready.
 * @return 0: call again; -1: errno */
static int wait_ready(const store_stream_t *s, int ms)
{
    struct pollfd p = {.fd = s->fd, .events = s->events};
    int n;

    if (errno != EAGAIN && errno != EWOULDBLOCK)
        return -1;
    do
        n = poll(&p, 1, ms);
    while (n < 0 && errno == EINTR);
    if (n == 0)
        errno = ETIMEDOUT;
    return n > 0 ? 0 : -1;
}

int store_stream_read_all(store_stream_t *s, void *to, size_t n, int ms)
{
    char *at = to;

    while (n > 0) {
        ssize_t got = store_stream_read(s, at, n);

        if (got == 0)
            errno = ECONNRESET;
        if (got == 0 || (got < 0 && wait_ready(s, ms) != 0))
            return -1;
        if (got > 0) {
            at += got;
            n -= (size_t)got;
        }
    }
    return 0;
}

int store_stream_write_all(store_stream_t *s, const void *from, size_t n,
                           int ms)
{
    const char *at = from;

    while (n > 0) {
        ssize_t sent = store_stream_write(s, at, n);

        if (sent < 0 && wait_ready(s, ms) != 0)
            return -1;
        if (sent > 0) {
            at += sent;
            n -= (size_t)sent;
        }
    }
    return 0;
}

void store_stream_close(store_stream_t *s)
{
    if (!s)
        return;
    store_tls_free(s->tls);
    close(s->fd);
    free(s);
}
