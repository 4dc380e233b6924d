/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/tls.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#ifdef APPPOOL_OPENSSL

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pthread.h>

#include "store/cluster/cluster.h"
#include "base/secret.h"

/* Both ends send this name of the key: it tells nothing. */
static const unsigned char identity[] = "apppool-store";
#define IDENTITY (sizeof identity - 1)

struct store_tls {
    SSL *ssl;
    unsigned char key[STORE_DERIVED]; /* zero after the handshake */
    int done;                         /* 1: the handshake is done */
    int broken;                       /* 1: OpenSSL has given up */
};

static SSL_CTX *context;

/* The key as OpenSSL wants it: as a session that could be resumed. */
static SSL_SESSION *make_session(SSL *ssl)
{
    static const unsigned char aes_128_gcm_sha256[] = {0x13, 0x01};
    const store_tls_t *t = SSL_get_app_data(ssl);
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

store_tls_t *store_tls_make(int fd, int is_server, const unsigned char *secret,
                            unsigned n_secret)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    store_tls_t *t;

    if (n_secret < STORE_SECRET_MIN) { /* anybody could guess it */
        errno = EINVAL;
        return NULL;
    }
    t = calloc(1, sizeof *t);
    pthread_once(&once, make_context);
    if (t && context && secret_peer(secret, n_secret, t->key) == 0)
        t->ssl = SSL_new(context);
    if (!t || !t->ssl || !SSL_set_fd(t->ssl, fd)) {
        store_tls_free(t);
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
static int failed(store_tls_t *t, int result, short *events)
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

int store_tls_handshake(store_tls_t *t, short *events)
{
    int result;

    if (t->done)
        return 0;
    ERR_clear_error();
    errno = 0;
    result = SSL_do_handshake(t->ssl);
    if (result != 1) {
        if (failed(t, result, events) == 0)
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

ssize_t store_tls_read(store_tls_t *t, void *to, size_t n, short *events)
{
    size_t got = 0;
    int result;

    if (!t->done && store_tls_handshake(t, events) != 0)
        return -1;
    ERR_clear_error();
    errno = 0;
    result = SSL_read_ex(t->ssl, to, n, &got);
    return result == 1 ? (ssize_t)got : failed(t, result, events);
}

ssize_t store_tls_write(store_tls_t *t, const void *from, size_t n,
                        short *events)
{
    size_t sent = 0;
    int result;

    if (!t->done && store_tls_handshake(t, events) != 0)
        return -1;
    ERR_clear_error();
    errno = 0;
    result = SSL_write_ex(t->ssl, from, n, &sent);
    if (result == 1)
        return (ssize_t)sent;
    if (failed(t, result, events) == 0)
        errno = EPIPE;
    return -1;
}

int store_tls_pending(const store_tls_t *t)
{
    return SSL_has_pending(t->ssl);
}

void store_tls_free(store_tls_t *t)
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

#else

/* AppStoreKey is refused by httpd, so nobody comes here. */

store_tls_t *store_tls_make(int fd, int is_server, const unsigned char *secret,
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

int store_tls_handshake(store_tls_t *t, short *events)
{
    (void)t, (void)events;
    return absent();
}

ssize_t store_tls_read(store_tls_t *t, void *to, size_t n, short *events)
{
    (void)t, (void)to, (void)n, (void)events;
    return absent();
}

ssize_t store_tls_write(store_tls_t *t, const void *from, size_t n,
                        short *events)
{
    (void)t, (void)from, (void)n, (void)events;
    return absent();
}

int store_tls_pending(const store_tls_t *t)
{
    (void)t;
    return 0;
}

void store_tls_free(store_tls_t *t)
{
    (void)t;
}

#endif
