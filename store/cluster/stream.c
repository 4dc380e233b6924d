/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/secret.h"
#include "store/cluster/cluster.h"

#ifdef APPPOOL_OPENSSL
#include <openssl/err.h>
#include <openssl/ssl.h>
#endif

#define RECORD (16 << 10) /* bytes: a record of TLS has no more */

/* ---- TLS 1.3 ----
 *
 * The key of secret_peer() is the external pre-shared key of both ends. There
 * is no certificate and no session ticket. Each connection has keys of its own
 * (Diffie-Hellman), so it cannot be read with a secret that becomes known
 * later. Each function
 * tells in `*events` what it waits for when it returns EAGAIN. */

#ifdef APPPOOL_OPENSSL

/* Both ends send this name of the key: it tells nothing. */
static const unsigned char identity[] = "apppool-store";
#define IDENTITY (sizeof identity - 1)

typedef struct {
    SSL *ssl;
    unsigned char key[STORE_DERIVED]; /* zero after the handshake */
    int done;                         /* 1: the handshake is done */
    int broken;                       /* 1: OpenSSL has given up */
} tls_t;

static SSL_CTX *context;

/* The key as OpenSSL wants it: as a session that could be resumed. */
static SSL_SESSION *make_session(SSL *ssl)
{
    static const unsigned char aes_128_gcm_sha256[] = {0x13, 0x01};
    const tls_t *t = SSL_get_app_data(ssl);
    const SSL_CIPHER *cipher = SSL_CIPHER_find(ssl, aes_128_gcm_sha256);
    SSL_SESSION *s = SSL_SESSION_new();

    if (s && cipher && SSL_SESSION_set1_master_key(s, t->key, STORE_DERIVED) &&
        SSL_SESSION_set_cipher(s, cipher) &&
        SSL_SESSION_set_protocol_version(s, TLS1_3_VERSION))
        return s;
    SSL_SESSION_free(s);
    return NULL;
}

static int offer_key(SSL *ssl, const EVP_MD *md, const unsigned char **id,
                     size_t *n, SSL_SESSION **session)
{
    (void)md; /* of the one cipher that there is */
    *id = identity;
    *n = IDENTITY;
    *session = make_session(ssl);
    return *session != NULL;
}

static int find_key(SSL *ssl, const unsigned char *id, size_t n,
                    SSL_SESSION **session)
{
    *session = NULL;
    if (n == IDENTITY && memcmp(id, identity, IDENTITY) == 0)
        *session = make_session(ssl);
    return 1; /* without a key there is nothing else that OpenSSL could use */
}

static void make_context(void)
{
    SSL_CTX *c;

    /* Threads may run at the end of the process, so nothing is cleaned up. */
    if (!OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL))
        return;
    c = SSL_CTX_new(TLS_method());
    if (!c)
        return;
    if (!SSL_CTX_set_min_proto_version(c, TLS1_3_VERSION) ||
        !SSL_CTX_set_ciphersuites(c, "TLS_AES_128_GCM_SHA256") ||
        !SSL_CTX_set_num_tickets(c, 0)) {
        SSL_CTX_free(c);
        return;
    }
    SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(c, SSL_OP_NO_TICKET);
#ifdef SSL_OP_IGNORE_UNEXPECTED_EOF
    SSL_CTX_set_options(c, SSL_OP_IGNORE_UNEXPECTED_EOF);
#endif
    SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE |
                            SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                            SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_read_ahead(c, 1); /* one read() for a record, and not two */
    SSL_CTX_set_psk_use_session_callback(c, offer_key);
    SSL_CTX_set_psk_find_session_callback(c, find_key);
    context = c;
}

static void tls_free(tls_t *t)
{
    if (!t)
        return;
    if (t->ssl && t->done && !t->broken)
        SSL_shutdown(t->ssl);
    SSL_free(t->ssl);
    ERR_clear_error();
    OPENSSL_cleanse(t->key, sizeof t->key);
    free(t);
}

static tls_t *tls_make(int fd, int is_server, const unsigned char *secret,
                       unsigned n_secret)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    tls_t *t;

    if (n_secret < STORE_SECRET_MIN) { /* anybody could guess it */
        errno = EINVAL;
        return NULL;
    }
    t = calloc(1, sizeof *t);
    pthread_once(&once, make_context);
    if (t && context && secret_peer(secret, n_secret, t->key) == 0)
        t->ssl = SSL_new(context);
    if (!t || !t->ssl || !SSL_set_fd(t->ssl, fd)) {
        tls_free(t);
        ERR_clear_error();
        errno = ENOMEM;
        return NULL;
    }
    SSL_set_app_data(t->ssl, t);
    if (is_server)
        SSL_set_accept_state(t->ssl);
    else { /* a certificate instead of the key: no authority is known */
        SSL_set_connect_state(t->ssl);
        SSL_set_verify(t->ssl, SSL_VERIFY_PEER, NULL);
    }
    return t;
}

/* What a call of OpenSSL that has failed means. @return 0: the other end has
 * closed the connection; -1: errno */
static int tls_failed(tls_t *t, int result, short *events)
{
    int error = errno;
    int why = SSL_get_error(t->ssl, result);

    ERR_clear_error();
    if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) {
        *events = why == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT;
        errno = EAGAIN;
        return -1;
    }
    if (why == SSL_ERROR_ZERO_RETURN)
        return 0;
    t->broken = 1;
    if (why == SSL_ERROR_SYSCALL)
        errno = error ? error : ECONNRESET;
    else
        errno = EPROTO;
    return -1;
}

static int tls_handshake(tls_t *t, short *events)
{
    int result;

    if (t->done)
        return 0;
    ERR_clear_error();
    errno = 0;
    result = SSL_do_handshake(t->ssl);
    if (result != 1) {
        if (tls_failed(t, result, events) == 0)
            errno = ECONNRESET;
        return -1;
    }
    OPENSSL_cleanse(t->key, sizeof t->key);
    if (!SSL_session_reused(t->ssl)) { /* not by the key */
        t->broken = 1;
        errno = EPROTO;
        return -1;
    }
    t->done = 1;
    return 0;
}

static ssize_t tls_read(tls_t *t, void *to, size_t n, short *events)
{
    size_t got = 0;
    int result;

    if (!t->done && tls_handshake(t, events) != 0)
        return -1;
    ERR_clear_error();
    errno = 0;
    result = SSL_read_ex(t->ssl, to, n, &got);
    return result == 1 ? (ssize_t)got : tls_failed(t, result, events);
}

static ssize_t tls_write(tls_t *t, const void *from, size_t n, short *events)
{
    size_t sent = 0;
    int result;

    if (!t->done && tls_handshake(t, events) != 0)
        return -1;
    ERR_clear_error();
    errno = 0;
    result = SSL_write_ex(t->ssl, from, n, &sent);
    if (result == 1)
        return (ssize_t)sent;
    if (tls_failed(t, result, events) == 0)
        errno = EPIPE;
    return -1;
}

static int tls_pending(const tls_t *t)
{
    return SSL_has_pending(t->ssl);
}

#else

/* AppStoreKey is refused by httpd, so nobody comes here. */

typedef struct {
    char none;
} tls_t;

static tls_t *tls_make(int fd, int is_server, const unsigned char *secret,
                       unsigned n_secret)
{
    (void)fd, (void)is_server, (void)secret, (void)n_secret;
    errno = ENOTSUP;
    return NULL;
}

static int absent(void)
{
    errno = ENOTSUP;
    return -1;
}

static int tls_handshake(tls_t *t, short *events)
{
    (void)t, (void)events;
    return absent();
}

static ssize_t tls_read(tls_t *t, void *to, size_t n, short *events)
{
    (void)t, (void)to, (void)n, (void)events;
    return absent();
}

static ssize_t tls_write(tls_t *t, const void *from, size_t n, short *events)
{
    (void)t, (void)from, (void)n, (void)events;
    return absent();
}

static int tls_pending(const tls_t *t)
{
    (void)t;
    return 0;
}

static void tls_free(tls_t *t)
{
    (void)t;
}

#endif

/* ---- a stream ---- */

struct store_stream {
    int fd;
    tls_t *tls; /* NULL: plain */
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
            s->tls = tls_make(fd, is_server, secret, n_secret);
        if (!secret || s->tls)
            return s;
    }
    free(s);
    close(fd);
    return NULL;
}

int store_stream_handshake(store_stream_t *s)
{
    return s->tls ? tls_handshake(s->tls, &s->events) : 0;
}

ssize_t store_stream_read(store_stream_t *s, void *to, size_t n)
{
    ssize_t got;

    if (s->tls)
        return tls_read(s->tls, to, n, &s->events);
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
        return tls_write(s->tls, from, n, &s->events);
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
            got = tls_read(s->tls, (char *)iov->iov_base + at,
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
        return tls_write(s->tls, iov->iov_base, iov->iov_len, &s->events);
    for (; n-- > 0 && size < RECORD; iov++) {
        some = iov->iov_len < RECORD - size ? iov->iov_len : RECORD - size;
        memcpy(record + size, iov->iov_base, some);
        size += some;
    }
    return tls_write(s->tls, record, size, &s->events);
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
    return s->tls ? tls_pending(s->tls) : 0;
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
    tls_free(s->tls);
    close(s->fd);
    free(s);
}
