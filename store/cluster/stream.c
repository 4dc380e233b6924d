/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/cluster/tls.h"

#define RECORD (16 << 10) /* bytes: a record of TLS has no more */

struct store_stream {
    int fd;
    store_tls_t *tls; /* NULL: plain */
    short events;
    int is_dry; /* the last readv() has met the end of what is there */
};

/* OpenSSL reads and writes as a file does. */
static int does_not_block(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

store_stream_t *store_stream_make(int fd, int is_server,
                                  const unsigned char *secret,
                                  unsigned n_secret)
{
    store_stream_t *s = calloc(1, sizeof *s);

    if (s) {
        s->fd = fd;
        s->events = POLLIN;
        if (secret && does_not_block(fd))
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
        got = recv(s->fd, to, n, MSG_DONTWAIT);
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
        sent = send(s->fd, from, n, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    s->events = POLLOUT;
    return sent;
}

/* ---- many places at once ---- */

/* One record after the other, until there is none. */
static ssize_t read_records(store_stream_t *s, const struct iovec *iov,
                            unsigned n)
{
    ssize_t got, all = 0;
    size_t at;

    for (; n-- > 0; iov++)
        for (at = 0; at < iov->iov_len; at += (size_t)got) {
            got = store_tls_read(s->tls, (char *)iov->iov_base + at,
                                 iov->iov_len - at, &s->events);
            if (got <= 0) {
                s->is_dry = got < 0 && errno == EAGAIN;
                return all > 0 ? all : got;
            }
            all += got;
        }
    return all;
}

ssize_t store_stream_readv(store_stream_t *s, struct iovec *iov, unsigned n)
{
    struct msghdr message = {.msg_iov = iov, .msg_iovlen = n};
    ssize_t got, wanted = 0;

    s->is_dry = 0;
    if (s->tls)
        return read_records(s, iov, n);
    do
        got = recvmsg(s->fd, &message, MSG_DONTWAIT);
    while (got < 0 && errno == EINTR);
    s->events = POLLIN;
    if (got >= 0 && message.msg_flags & MSG_CTRUNC) {
        errno = EPROTO; /* with descriptors, which the kernel has closed */
        return -1;
    }
    while (n-- > 0)
        wanted += (ssize_t)iov[n].iov_len;
    s->is_dry = got < wanted;
    return got;
}

/* Small places go into one record. Each record is a call of write(). */
static ssize_t write_record(store_stream_t *s, const struct iovec *iov,
                            unsigned n)
{
    char record[RECORD];
    size_t size = 0, some;

    if (n == 1 || iov->iov_len >= RECORD)
        return store_tls_write(s->tls, iov->iov_base, iov->iov_len, &s->events);
    for (; n-- > 0 && size < RECORD; iov++) {
        some = iov->iov_len < RECORD - size ? iov->iov_len : RECORD - size;
        memcpy(record + size, iov->iov_base, some);
        size += some;
    }
    return store_tls_write(s->tls, record, size, &s->events);
}

ssize_t store_stream_writev(store_stream_t *s, struct iovec *iov, unsigned n)
{
    struct msghdr message = {.msg_iov = iov, .msg_iovlen = n};
    ssize_t sent;

    if (s->tls)
        return write_record(s, iov, n);
    do
        sent = sendmsg(s->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    s->events = POLLOUT;
    return sent;
}

/* ---- its state ---- */

short store_stream_events(const store_stream_t *s)
{
    return s->events;
}

int store_stream_pending(const store_stream_t *s)
{
    return s->tls ? store_tls_pending(s->tls) : 0;
}

int store_stream_has_bytes(const store_stream_t *s)
{
    char byte;

    return store_stream_pending(s) ||
           recv(s->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

int store_stream_is_dry(const store_stream_t *s)
{
    return s->is_dry;
}

int store_stream_is_tls(const store_stream_t *s)
{
    return s->tls != NULL;
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
