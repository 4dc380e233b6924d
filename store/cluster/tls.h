/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file tls.h
 * @brief TLS 1.3 between two stores that have the same secret.
 *
 * The key of secret_peer() is the external pre-shared key of both ends.
 * There is no certificate and no session ticket. Each connection has keys of
 * its own (Diffie-Hellman), so who learns the secret later cannot read it.
 *
 * Lock:  none; one thread uses a connection. The process ignores SIGPIPE.
 * Errors: as of stream.h. A build without OpenSSL: ENOTSUP.
 * Trust: the other end may send anything. OpenSSL reads it.
 */
#ifndef APPPOOL_STORE_CLUSTER_TLS_H
#define APPPOOL_STORE_CLUSTER_TLS_H

#include <stddef.h>
#include <sys/types.h>

typedef struct store_tls store_tls_t;

/** On a non-blocking socket, which stays the caller's. @return NULL: errno;
 * EINVAL: the secret is shorter than STORE_SECRET_MIN */
store_tls_t *store_tls_make(int fd, int is_server, const unsigned char *secret,
                            unsigned n_secret);

/** These four: as their namesakes of stream.h. Each tells in `*events` what it
 * waits for when it returns EAGAIN. */
int store_tls_handshake(store_tls_t *, short *events);
ssize_t store_tls_read(store_tls_t *, void *to, size_t n, short *events);
ssize_t store_tls_write(store_tls_t *, const void *from, size_t n,
                        short *events);
int store_tls_pending(const store_tls_t *);

/** Tell the other end, if it listens, and free it. NULL: nothing. */
void store_tls_free(store_tls_t *);

#endif
