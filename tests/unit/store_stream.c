/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Two stores talk over a stream: plain, and by TLS with a secret. */

#include "store/cluster/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/secret.h"

#define WAIT  40000 /* ms */
#define LARGE (8u << 20)

static const unsigned char secret[] = "the secret of all hosts, 32 bytes";
static const unsigned char wrong[] = "another secret, which has 32 bytes";

#define N_SECRET ((unsigned)sizeof secret - 1)
#define N_WRONG  ((unsigned)sizeof wrong - 1)

typedef struct {
    store_stream_t *server, *client;
} pair_t;

/* A key of NULL: this end is plain. */
static void make(pair_t *p, const unsigned char *server,
                 const unsigned char *client, unsigned n_client)
{
    int ends[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends),
                     0);
    p->server = store_stream_make(ends[0], 1, server, N_SECRET);
    p->client = store_stream_make(ends[1], 0, client, n_client);
    assert_non_null(p->server);
    assert_non_null(p->client);
}

static void make_alike(pair_t *p, const unsigned char *key)
{
    make(p, key, key, N_SECRET);
}

static void end(pair_t *p)
{
    store_stream_close(p->server);
    store_stream_close(p->client);
}

/* Both ends take turns, until each is done or has failed.
 * @param errors gets errno of server and client; 0: done */
static void shake(const pair_t *p, int errors[2])
{
    store_stream_t *ends[2] = {p->server, p->client};
    int left = 2, turns, i;

    errors[0] = errors[1] = EAGAIN;
    for (turns = 0; left > 0 && turns < 100; turns++)
        for (i = 0; i < 2; i++)
            if (errors[i] == EAGAIN) {
                errors[i] = store_stream_handshake(ends[i]) == 0 ? 0 : errno;
                left -= errors[i] != EAGAIN;
            }
}

static void shake_well(const pair_t *p)
{
    int errors[2];

    shake(p, errors);
    assert_int_equal(errors[0], 0);
    assert_int_equal(errors[1], 0);
}

static void talk(const unsigned char *key)
{
    pair_t p;
    char got[16];

    make_alike(&p, key);
    shake_well(&p);
    assert_int_equal(store_stream_read(p.server, got, sizeof got), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(store_stream_events(p.server), POLLIN);
    assert_int_equal(store_stream_write(p.client, "question", 8), 8);
    assert_int_equal(store_stream_read(p.server, got, 4), 4);
    assert_memory_equal(got, "ques", 4);
    assert_int_equal(store_stream_pending(p.server), key != NULL);
    assert_int_equal(store_stream_read_all(p.server, got, 4, WAIT), 0);
    assert_memory_equal(got, "tion", 4);
    assert_int_equal(store_stream_pending(p.server), 0);
    assert_int_equal(store_stream_write_all(p.server, "answer", 6, WAIT), 0);
    assert_int_equal(store_stream_read(p.client, got, sizeof got), 6);
    assert_memory_equal(got, "answer", 6);
    end(&p);
}

static void test_plain(void **state)
{
    (void)state;
    talk(NULL);
}

static void test_tls(void **state)
{
    (void)state;
    talk(secret);
}

/* What is read from the wire is not what was written. */
static void test_secrecy(void **state)
{
    int ends[2], wire[2], i;
    store_stream_t *server, *client;
    char bytes[4096];
    ssize_t n;
    pair_t p;

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends),
                     0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, wire),
                     0);
    p.server = server = store_stream_make(ends[0], 1, secret, N_SECRET);
    p.client = client = store_stream_make(wire[0], 0, secret, N_SECRET);
    for (i = 0; i < 8; i++) { /* from each end to the other */
        (void)store_stream_handshake(client);
        n = recv(wire[1], bytes, sizeof bytes, MSG_DONTWAIT);
        if (n > 0)
            assert_int_equal(write(ends[1], bytes, (size_t)n), n);
        (void)store_stream_handshake(server);
        n = recv(ends[1], bytes, sizeof bytes, MSG_DONTWAIT);
        if (n > 0)
            assert_int_equal(write(wire[1], bytes, (size_t)n), n);
    }
    shake_well(&p);
    assert_int_equal(store_stream_write(client, "open words", 10), 10);
    n = recv(wire[1], bytes, sizeof bytes, 0);
    assert_true(n > 10);
    assert_null(memmem(bytes, (size_t)n, "open words", 10));
    bytes[n - 1] ^= 1; /* forged: refused */
    assert_int_equal(write(ends[1], bytes, (size_t)n), n);
    assert_int_equal(store_stream_read(server, bytes, sizeof bytes), -1);
    assert_int_equal(errno, EPROTO);
    end(&p);
    close(ends[1]);
    close(wire[1]);
}

static void test_wrong_secret(void **state)
{
    int errors[2];
    pair_t p;
    char c;

    (void)state;
    make(&p, secret, wrong, N_WRONG);
    shake(&p, errors);
    assert_int_equal(errors[0], EPROTO);
    assert_int_equal(errors[1], EPROTO);
    assert_int_equal(store_stream_read(p.server, &c, 1), -1);
    assert_int_equal(store_stream_write(p.client, "c", 1), -1);
    end(&p);
}

/* A client without TLS at a server with it. */
static void test_plain_client(void **state)
{
    pair_t p;

    (void)state;
    make(&p, secret, NULL, 0);
    assert_int_equal(store_stream_write(p.client, "get a\r\n", 7), 7);
    assert_int_equal(store_stream_handshake(p.server), -1);
    assert_int_equal(errno, EPROTO);
    end(&p);
}

/* A client with TLS at a server without it, which answers something. */
static void test_plain_server(void **state)
{
    pair_t p;

    (void)state;
    make(&p, NULL, secret, N_SECRET);
    assert_int_equal(store_stream_handshake(p.client), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(store_stream_write(p.server, "ERROR\r\n", 7), 7);
    assert_int_equal(store_stream_handshake(p.client), -1);
    assert_int_equal(errno, EPROTO);
    end(&p);
}

/* The other end dies after each number of bytes of its first message. */
static void test_truncated(void **state)
{
    char hello[4096];
    ssize_t n, length;
    int ends[2];
    pair_t p;

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends),
                     0);
    p.client = store_stream_make(ends[0], 0, secret, N_SECRET);
    (void)store_stream_handshake(p.client);
    length = read(ends[1], hello, sizeof hello);
    assert_true(length > 100);
    store_stream_close(p.client);
    close(ends[1]);
    for (n = 0; n < length; n++) {
        assert_int_equal(
            socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
        p.server = store_stream_make(ends[0], 1, secret, N_SECRET);
        assert_int_equal(write(ends[1], hello, (size_t)n), n);
        assert_int_equal(store_stream_handshake(p.server), -1);
        assert_int_equal(errno, EAGAIN);
        close(ends[1]);
        assert_int_equal(store_stream_handshake(p.server), -1);
        assert_int_not_equal(errno, EAGAIN);
        store_stream_close(p.server);
    }
}

static unsigned char *large;

static void *send_large(void *stream)
{
    return store_stream_write_all(stream, large, LARGE, WAIT) == 0 ? large
                                                                   : NULL;
}

/* Both ends send at once, and each byte arrives. */
static void move_large(const unsigned char *key)
{
    unsigned char *got = malloc(LARGE);
    pthread_t thread;
    void *sent;
    size_t i;
    pair_t p;

    assert_non_null(got);
    for (i = 0; i < LARGE; i++)
        large[i] = (unsigned char)(i * 2654435761u >> 13);
    make_alike(&p, key);
    if (key)
        shake_well(&p);
    assert_int_equal(pthread_create(&thread, NULL, send_large, p.server), 0);
    assert_int_equal(store_stream_read_all(p.client, got, LARGE, WAIT), 0);
    pthread_join(thread, &sent);
    assert_non_null(sent);
    assert_memory_equal(got, large, LARGE);
    assert_int_equal(store_stream_write(p.client, "end", 3), 3);
    assert_int_equal(store_stream_read_all(p.server, got, 3, WAIT), 0);
    end(&p);
    free(got);
}

static void test_large(void **state)
{
    (void)state;
    large = malloc(LARGE);
    assert_non_null(large);
    move_large(NULL);
    move_large(secret);
    free(large);
}

static void *read_one(void *stream)
{
    char c;
    static int error;

    error = store_stream_read_all(stream, &c, 1, WAIT) == 0 ? 0 : errno;
    return &error;
}

/* Another thread ends what waits. */
static void stop_reader(const unsigned char *key)
{
    pthread_t thread;
    void *error;
    pair_t p;

    make_alike(&p, key);
    if (key)
        shake_well(&p);
    assert_int_equal(pthread_create(&thread, NULL, read_one, p.server), 0);
    shutdown(store_stream_fd(p.server), SHUT_RDWR);
    pthread_join(thread, &error);
    assert_int_equal(*(int *)error, ECONNRESET);
    end(&p);
}

static void test_shutdown(void **state)
{
    (void)state;
    stop_reader(NULL);
    stop_reader(secret);
}

/* The end of the other side is read behind what it has sent. */
static void hear_end(const unsigned char *key)
{
    char got[16];
    pair_t p;

    make_alike(&p, key);
    if (key)
        shake_well(&p);
    assert_int_equal(store_stream_write(p.client, "last", 4), 4);
    store_stream_close(p.client);
    assert_int_equal(store_stream_read_all(p.server, got, 4, WAIT), 0);
    assert_int_equal(store_stream_read(p.server, got, sizeof got), 0);
    assert_int_equal(store_stream_write_all(p.server, "more", 4, WAIT), -1);
    store_stream_close(p.server);
}

static void test_end(void **state)
{
    (void)state;
    hear_end(NULL);
    hear_end(secret);
}

static void test_timeout(void **state)
{
    pair_t p;
    char c;

    (void)state;
    make_alike(&p, secret);
    assert_int_equal(store_stream_read_all(p.server, &c, 1, 1), -1);
    assert_int_equal(errno, ETIMEDOUT);
    end(&p);
}

/* Computed by another implementation (Python's hmac). */
static void test_password(void **state)
{
    static const char expected[] =
        "a745f1d832c7b5dba889856eecb62ef4edffc7eb3c68f52ea8822d4ff62a9c5f";
    char password[STORE_PASSWORD], other[STORE_PASSWORD];

    (void)state;
    assert_int_equal(secret_password(secret, N_SECRET, "shop", password), 0);
    assert_string_equal(password, expected);
    assert_int_equal(secret_is_password(password, expected, 64), 1);
    assert_int_equal(secret_is_password(password, expected, 63), 0);
    assert_int_equal(secret_is_password(password, expected, 0), 0);
    assert_int_equal(secret_password(secret, N_SECRET, "shop2", other), 0);
    assert_int_equal(secret_is_password(password, other, 64), 0);
}

/* ---- many places at once ---- */

#define PLACES 100
#define PLACE  500 /* bytes: together they are more than three records */

static size_t read_places(store_stream_t *s, char *to, size_t n)
{
    struct iovec iov[2] = {{to, n / 3}, {to + n / 3, n - n / 3}};
    ssize_t got = store_stream_readv(s, iov, 2);

    assert_true(got > 0);
    assert_int_equal(store_stream_is_dry(s), (size_t)got < n);
    return (size_t)got;
}

/* Small places go together, and none is cut off or comes twice. */
static void scatter_and_gather(const unsigned char *key)
{
    static char sent[PLACES * PLACE], got[PLACES * PLACE];
    struct iovec iov[PLACES];
    size_t n_sent = 0, n_got = 0, i;
    ssize_t n;
    pair_t p;

    make_alike(&p, key);
    shake_well(&p);
    for (i = 0; i < sizeof sent; i++)
        sent[i] = (char)(i / PLACE + i);
    while (n_sent < sizeof sent) {
        for (i = 0; i < PLACES; i++)
            iov[i] = (struct iovec){sent + i * PLACE, PLACE};
        i = n_sent / PLACE;
        iov[i].iov_base = sent + n_sent;
        iov[i].iov_len = (i + 1) * PLACE - n_sent;
        n = store_stream_writev(p.client, iov + i, (unsigned)(PLACES - i));
        assert_true(n > (ssize_t)PLACE || n_sent + (size_t)n == sizeof sent);
        n_sent += (size_t)n;
    }
    assert_true(store_stream_has_bytes(p.server));
    while (n_got < sizeof got)
        n_got += read_places(p.server, got + n_got, sizeof got - n_got);
    assert_memory_equal(got, sent, sizeof sent);
    assert_false(store_stream_has_bytes(p.server));
    assert_int_equal(store_stream_readv(p.server, iov, 1), -1);
    assert_int_equal(errno, EAGAIN);
    end(&p);
}

static void test_places(void **state)
{
    (void)state;
    scatter_and_gather(NULL);
    scatter_and_gather(secret);
}

/* The kernel closes them. What is behind them would be read without an event. */
static void test_descriptors(void **state)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec bytes = {(char[]){'x'}, 1};
    struct msghdr message = {.msg_iov = &bytes,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control.bytes};
    int fd;
    pair_t p;

    (void)state;
    make_alike(&p, NULL);
    fd = store_stream_fd(p.client);
    memset(&control, 0, sizeof control);
    control.head.cmsg_level = SOL_SOCKET;
    control.head.cmsg_type = SCM_RIGHTS;
    control.head.cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
    assert_int_equal(sendmsg(fd, &message, 0), 1);
    assert_int_equal(store_stream_readv(p.server, &bytes, 1), -1);
    assert_int_equal(errno, EPROTO);
    end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_tls),
        cmocka_unit_test(test_secrecy),
        cmocka_unit_test(test_wrong_secret),
        cmocka_unit_test(test_plain_client),
        cmocka_unit_test(test_plain_server),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_shutdown),
        cmocka_unit_test(test_end),
        cmocka_unit_test(test_timeout),
        cmocka_unit_test(test_password),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_descriptors),
    };

    if (!secret_is_supported()) /* built without OpenSSL */
        return 77;
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
