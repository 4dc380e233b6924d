/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Descriptors that a hostile sender sends along do not block the receiver,
 * whether the kernel can refuse them or not. To close one of these sockets
 * takes an hour: a process that waits for it is ended by SIGALRM. */

#include "base/no_descriptors.h"
#include "spawner/process/guarded_socket.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/support/scene.h"

#define PATIENCE 300 /* s */
#define HOUR     3600

static int hearer = -1, never_reads = -1;

static int setup(void **state)
{
    (void)state;
    alarm(PATIENCE);
    if (hearer < 0) {
        hearer = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        return listen(hearer, 4);
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    alarm(0);
    close(never_reads);
    return 0;
}

/* A TCP socket whose close() waits for its unsent bytes. */
static int lingering(void)
{
    static const char bytes[65536];
    const struct linger hour = {1, HOUR};
    struct sockaddr_in at;
    socklen_t length = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(getsockname(hearer, (struct sockaddr *)&at, &length), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, length), 0);
    never_reads = accept(hearer, NULL, NULL);
    assert_true(never_reads >= 0);
    while (send(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
        ;
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &hour, sizeof hour),
                     0);
    return fd;
}

/* Send a word, and the only reference to a socket that lingers. Where it is
 * refused, a child has to be the last that closes it. */
static int send_along(int to, const char *word, int flags)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr header;
    } space = {.header = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
    struct iovec piece = {(void *)(uintptr_t)word, strlen(word)};
    struct msghdr message = {.msg_iov = &piece,
                             .msg_iovlen = 1,
                             .msg_control = space.bytes,
                             .msg_controllen = sizeof space.bytes};
    const struct linger none = {1, 0};
    int fd = lingering(), rv;

    memcpy(CMSG_DATA(&space.header), &fd, sizeof fd);
    rv = (int)sendmsg(to, &message, flags | MSG_NOSIGNAL);
    if (rv < 0) {
        rv = -errno;
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    }
    close(fd);
    return rv;
}

static void one_more_child(void)
{
    int status;

    assert_true(waitpid(-1, &status, 0) > 0);
    assert_int_equal(status, 0);
}

static void no_child(void)
{
    assert_int_equal(waitpid(-1, NULL, 0), -1);
    assert_int_equal(errno, ECHILD);
}

/* What comes between a check and the reading. */
static int late = -1; /* from here */

ssize_t __wrap_recv(int fd, void *data, size_t size, int flags);
ssize_t __real_recv(int fd, void *data, size_t size, int flags);

ssize_t __wrap_recv(int fd, void *data, size_t size, int flags)
{
    if (late >= 0)
        assert_int_equal(send_along(late, "XY", 0), 2);
    late = -1;
    return __real_recv(fd, data, size, flags);
}

static void pair(int type, int ends[2])
{
    assert_int_equal(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends), 0);
    guarded_socket_begin(ends[0]);
}

/* A listening socket, and a client that waits to be accepted. */
static void call(int ends[2])
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    socklen_t length = sizeof(sa_family_t); /* any abstract name */

    ends[0] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    guarded_socket_begin(ends[0]);
    assert_int_equal(bind(ends[0], (struct sockaddr *)&at, length), 0);
    assert_int_equal(listen(ends[0], 4), 0);
    length = sizeof at;
    assert_int_equal(getsockname(ends[0], (struct sockaddr *)&at, &length), 0);
    ends[1] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(ends[1], (struct sockaddr *)&at, length), 0);
}

static int accepted(int listener)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

    assert_true(fd >= 0);
    guarded_socket_begin(fd);
    return fd;
}

/* ---- the kernel refuses ---- */

static void needs_kernel(void)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), can;

    can = no_descriptors_refuse(fd) == 0;
    close(fd);
    if (!can)
        skip();
}

static void refused(const int ends[2])
{
    char word[8];
    int sent;

    assert_int_equal(send_along(ends[1], "X", 0), -EPERM);
    assert_int_equal(send(ends[1], "Y", 1, 0), 1);
    assert_int_equal(guarded_socket_recv(ends[0], word, sizeof word, &sent), 1);
    assert_int_equal(word[0], 'Y');
    assert_int_equal(sent, 0);
}

static void a_sender_is_refused(void **state)
{
    int ends[2], types[] = {SOCK_DGRAM, SOCK_STREAM}, i;

    (void)state;
    needs_kernel();
    for (i = 0; i < 2; i++) {
        pair(types[i], ends);
        refused(ends);
        guarded_socket_close(ends[0]);
        close(ends[1]);
    }
    no_child();
}

static void a_client_in_line_is_refused(void **state)
{
    int ends[2], both[2];

    (void)state;
    needs_kernel();
    call(ends);
    assert_int_equal(send_along(ends[1], "X", 0), -EPERM);
    both[0] = accepted(ends[0]);
    both[1] = ends[1];
    refused(both);
    guarded_socket_close(both[0]);
    close(ends[0]);
    close(ends[1]);
}

static void a_server_is_refused(void **state)
{
    struct sockaddr_un at;
    socklen_t length = sizeof at;
    int ends[2], both[2];

    (void)state;
    needs_kernel();
    call(ends);
    assert_int_equal(getsockname(ends[0], (struct sockaddr *)&at, &length), 0);
    both[0] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    guarded_socket_begin(both[0]);
    assert_int_equal(connect(both[0], (struct sockaddr *)&at, length), 0);
    close(accepted(ends[0]));
    both[1] = accepted(ends[0]);
    refused(both);
    guarded_socket_close(both[0]);
    close(both[1]);
    close(ends[0]);
    close(ends[1]);
}

/* ---- the kernel cannot refuse ---- */

static int by_hand(void **state)
{
    guarded_socket_by_hand();
    return setup(state);
}

static void looked_at(int type)
{
    char word[8];
    int ends[2], sent;

    pair(type, ends);
    assert_int_equal(send(ends[1], "ab", 2, 0), 2);
    assert_int_equal(guarded_socket_recv(ends[0], word, sizeof word, &sent), 2);
    assert_int_equal(sent, 0);
    assert_memory_equal(word, "ab", 2);
    assert_int_equal(send_along(ends[1], "XY", 0), 2);
    assert_int_equal(guarded_socket_recv(ends[0], word, sizeof word, &sent), 2);
    assert_int_equal(sent, 1);
    assert_memory_equal(word, "XY", 2);
    guarded_socket_close(ends[0]);
    assert_int_equal(fcntl(ends[0], F_GETFD), -1);
    close(ends[1]);
    one_more_child();
    no_child();
}

static void a_datagram_is_checked(void **state)
{
    (void)state;
    looked_at(SOCK_DGRAM);
}

static void a_stream_is_checked(void **state)
{
    (void)state;
    looked_at(SOCK_STREAM);
}

static void what_comes_later_waits(void **state)
{
    char word[8];
    int ends[2], sent;

    (void)state;
    pair(SOCK_STREAM, ends);
    assert_int_equal(send(ends[1], "ab", 2, 0), 2);
    late = ends[1];
    assert_int_equal(guarded_socket_recv(ends[0], word, sizeof word, &sent), 2);
    assert_int_equal(sent, 0);
    assert_int_equal(guarded_socket_recv(ends[0], word, sizeof word, &sent), 2);
    assert_int_equal(sent, 1);
    assert_memory_equal(word, "XY", 2);
    guarded_socket_close(ends[0]);
    close(ends[1]);
    one_more_child();
}

static void an_urgent_byte(void **state)
{
    char word[8];
    int ends[2], sent, n;

    (void)state;
    pair(SOCK_STREAM, ends);
    assert_int_equal(send(ends[1], "a", 1, 0), 1);
    n = send_along(ends[1], "X", MSG_OOB);
    if (n == -EOPNOTSUPP)
        skip(); /* before 5.15 */
    assert_int_equal(n, 1);
    assert_int_equal(send(ends[1], "b", 1, 0), 1);
    assert_int_equal(guarded_socket_recv(ends[0], word, sizeof word, &sent), 1);
    assert_int_equal(sent, 0);
    guarded_socket_recv(ends[0], word, sizeof word, &sent);
    assert_int_equal(sent, 1);
    guarded_socket_close(ends[0]);
    close(ends[1]);
    one_more_child();
}

static void a_client_that_is_accepted(void **state)
{
    char word[8];
    int ends[2], fd, sent;

    (void)state;
    call(ends);
    assert_int_equal(send_along(ends[1], "X", 0), 1);
    fd = accepted(ends[0]);
    assert_int_equal(guarded_socket_recv(fd, word, sizeof word, &sent), 1);
    assert_int_equal(sent, 1);
    guarded_socket_close(fd);
    close(ends[0]);
    close(ends[1]);
    one_more_child();
}

/* Also behind something else, and behind a message of no bytes. */
static void a_queue_that_is_not_read(void **state)
{
    int ends[2], types[] = {SOCK_DGRAM, SOCK_STREAM}, i;

    (void)state;
    for (i = 0; i < 2; i++) {
        pair(types[i], ends);
        assert_int_equal(send(ends[1], "a", (size_t)i, 0), i);
        assert_int_equal(send_along(ends[1], "X", 0), 1);
        guarded_socket_close(ends[0]);
        close(ends[1]);
        one_more_child();
    }
    no_child();
}

static void nothing_to_leave_to_a_child(void **state)
{
    char word[8];
    int ends[2], types[] = {SOCK_DGRAM, SOCK_STREAM}, i, sent;

    (void)state;
    for (i = 0; i < 2; i++) {
        pair(types[i], ends);
        assert_int_equal(guarded_socket_recv(ends[0], word, sizeof word, &sent),
                         -1);
        assert_int_equal(errno, EAGAIN);
        assert_int_equal(send(ends[1], "a", 1, 0), 1);
        assert_int_equal(guarded_socket_recv(ends[0], word, sizeof word, &sent),
                         1);
        close(ends[1]);
        if (types[i] == SOCK_STREAM)
            assert_int_equal(
                guarded_socket_recv(ends[0], word, sizeof word, &sent), 0);
        guarded_socket_close(ends[0]);
    }
    no_child();
}

/* A message of no bytes is one as well: those behind it are read. */
static void an_empty_datagram(void **state)
{
    char word[8];
    int ends[2], sent;

    (void)state;
    pair(SOCK_DGRAM, ends);
    assert_int_equal(send(ends[1], "", 0, 0), 0);
    assert_int_equal(send(ends[1], "a", 1, 0), 1);
    assert_int_equal(guarded_socket_recv(ends[0], word, sizeof word, &sent), 0);
    assert_int_equal(guarded_socket_recv(ends[0], word, sizeof word, &sent), 1);
    guarded_socket_close(ends[0]);
    close(ends[1]);
}

#define KERNEL(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
#define HAND(f)   cmocka_unit_test_setup_teardown(f, by_hand, teardown)

int main(void)
{
    /* In this order, because work by hand cannot be undone. */
    const struct CMUnitTest tests[] = {
        KERNEL(a_sender_is_refused),    KERNEL(a_client_in_line_is_refused),
        KERNEL(a_server_is_refused),    HAND(a_datagram_is_checked),
        HAND(a_stream_is_checked),      HAND(what_comes_later_waits),
        HAND(an_urgent_byte),           HAND(a_client_that_is_accepted),
        HAND(a_queue_that_is_not_read), HAND(nothing_to_leave_to_a_child),
        HAND(an_empty_datagram)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
