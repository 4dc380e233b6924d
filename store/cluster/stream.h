/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file stream.h
 * @brief A connection of a client or of another host: a plain socket, or TLS
 *        1.3 with the secret of AppStoreKey as its pre-shared key.
 *
 * A build without OpenSSL makes no stream with a secret: ENOTSUP.
 *
 * Calls whose names say that they read or write all wait; no other call does.
 * Another thread may end a call that waits by shutdown(2). The process ignores
 * SIGPIPE.
 *
 * Lock:  one thread uses a stream.
 * Errors: -1 and errno; EAGAIN: the other end is not ready, see
 *        store_stream_events(); EPROTO: the other end does not know the secret,
 *        or has sent no TLS.
 * Trust: the other end may send anything. OpenSSL reads it.
 */
#ifndef APPPOOL_STORE_CLUSTER_STREAM_H
#define APPPOOL_STORE_CLUSTER_STREAM_H

#include <sys/types.h>
#include <sys/uio.h>

#include "store/cluster/cluster.h"

typedef struct store_stream store_stream_t;

/**
 * Begin on a connected socket. The stream takes it.
 * @param is_server 1: the other end has connected
 * @param secret    use TLS with this secret; NULL: plain
 * @return NULL: no memory, no OpenSSL, or a secret that is shorter than
 *         STORE_SECRET_MIN; the descriptor is closed
 */
store_stream_t *store_stream_make(int fd, int is_server,
                                  const unsigned char *secret,
                                  unsigned n_secret);

/** Go on with the handshake. Plain: done at once. Reading and writing do it
 * too.
 * @return 0: it is done; -1: EAGAIN and others */
int store_stream_handshake(store_stream_t *);

/** @return bytes; 0: the other end has closed it; -1 */
ssize_t store_stream_read(store_stream_t *, void *to, size_t n);

/** After EAGAIN the next call has the same bytes, perhaps more of them.
 * @return bytes, at least 1; -1 */
ssize_t store_stream_write(store_stream_t *, const void *from, size_t n);

/** Read to and write from many places. A plain socket is read by one recvmsg().
 * One that has sent descriptors, too, is an error. TLS is read until there is
 * no more, and one record is written. */
ssize_t store_stream_readv(store_stream_t *, struct iovec *, unsigned n);
ssize_t store_stream_writev(store_stream_t *, struct iovec *, unsigned n);

/** Has the last store_stream_readv() read all that is there? Then the next
 * bytes are an event, and so is the end, if no event has reported it before. */
int store_stream_is_dry(const store_stream_t *);

/** What the last call that returned EAGAIN waits for: POLLIN or POLLOUT. */
short store_stream_events(const store_stream_t *);

/** 1: bytes are there that poll() does not see. */
int store_stream_pending(const store_stream_t *);

/** 1: something can be read, and it is not the end. TLS: or a part of a
 * record. */
int store_stream_has_bytes(const store_stream_t *);

int store_stream_is_tls(const store_stream_t *);

int store_stream_fd(const store_stream_t *);

/** For threads that may wait: read or write all. @param ms for each wait
 *  @return 0; -1: errno, ETIMEDOUT, or ECONNRESET when the other end has
 *  ended */
int store_stream_read_all(store_stream_t *, void *to, size_t n, int ms);
int store_stream_write_all(store_stream_t *, const void *from, size_t n,
                           int ms);

/** Close it. NULL: nothing. */
void store_stream_close(store_stream_t *);

#endif
