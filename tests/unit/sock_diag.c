/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A dump of sockets that is not complete has failed. The linker wraps send()
 * and recv(). */

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "spawner/process/sock_diag.h"
#include "tests/unit/support/scene.h"

/* What a request gets; the second one is that for IPv6. */
static struct {
    int type;   /* NLMSG_DONE, NLMSG_ERROR; 0: recv() fails */
    int reason; /* errno; 0: none */
} responses[2];
static int request;
static int sockets; /* that come before the response */

ssize_t __wrap_send(int fd, const void *data, size_t size, int flags);
ssize_t __wrap_recv(int fd, void *data, size_t size, int flags);

ssize_t __wrap_send(int fd, const void *data, size_t size, int flags)
{
    (void)fd;
    (void)data;
    (void)flags;
    request++;
    return (ssize_t)size;
}

/* The message of a dump that is about one listening socket. */
static ssize_t put_socket(void *data, size_t size)
{
    struct {
        struct nlmsghdr head;
        struct unix_diag_msg body;
        struct rtattr name;
        char path[4];
    } message = {.head = {.nlmsg_len = sizeof message,
                          .nlmsg_type = SOCK_DIAG_BY_FAMILY},
                 .body = {.udiag_family = AF_UNIX, .udiag_state = TCP_LISTEN},
                 .name = {.rta_len = sizeof message.name + sizeof message.path,
                          .rta_type = UNIX_DIAG_NAME},
                 .path = "/a"};

    assert_true(size >= sizeof message);
    memcpy(data, &message, sizeof message);
    return sizeof message;
}

ssize_t __wrap_recv(int fd, void *data, size_t size, int flags)
{
    struct {
        struct nlmsghdr head;
        struct nlmsgerr error; /* the same number is behind NLMSG_DONE */
    } message;

    (void)fd;
    (void)flags;
    if (sockets > 0) {
        sockets--;
        return put_socket(data, size);
    }
    assert_in_range(request, 1, 2);
    if (responses[request - 1].type == 0) {
        errno = responses[request - 1].reason;
        return -1;
    }
    memset(&message, 0, sizeof message);
    message.head.nlmsg_len = sizeof message;
    message.head.nlmsg_type = (uint16_t)responses[request - 1].type;
    message.error.error = -responses[request - 1].reason;
    assert_true(size >= sizeof message);
    memcpy(data, &message, sizeof message);
    return sizeof message;
}

static void on_unix(const sock_diag_socket_t *at, uint32_t n, void *ctx)
{
    (void)at;
    (void)n;
    (void)ctx;
    fail();
}

static void on_tcp(const sock_diag_port_t *at, uint32_t n, void *ctx)
{
    (void)at;
    (void)n;
    (void)ctx;
    fail();
}

/* @return 0, or the errno of one dump */
static int dump_unix(int type, int reason)
{
    request = 0;
    responses[0].type = type;
    responses[0].reason = reason;
    return sock_diag_unix_left(on_unix, NULL) == 0 ? 0 : errno;
}

static int dump_tcp(int type4, int reason4, int type6, int reason6)
{
    request = 0;
    responses[0].type = type4;
    responses[0].reason = reason4;
    responses[1].type = type6;
    responses[1].reason = reason6;
    return sock_diag_tcp_left(on_tcp, NULL) == 0 ? 0 : errno;
}

static void a_dump_ends_with_done(void **state)
{
    (void)state;
    assert_int_equal(dump_unix(NLMSG_DONE, 0), 0);
    assert_int_equal(dump_unix(NLMSG_DONE, ENOBUFS), ENOBUFS);
    assert_int_equal(dump_unix(NLMSG_ERROR, ENOMEM), ENOMEM);
    assert_int_equal(dump_unix(0, EAGAIN), EAGAIN);
}

static void a_kernel_that_cannot_dump(void **state)
{
    (void)state;
    assert_int_equal(dump_unix(NLMSG_ERROR, ENOENT), ENOTSUP);
    assert_int_equal(dump_unix(NLMSG_ERROR, EPERM), ENOTSUP);
}

static void both_families_of_tcp(void **state)
{
    (void)state;
    assert_int_equal(dump_tcp(NLMSG_DONE, 0, NLMSG_DONE, 0), 0);
    assert_int_equal(dump_tcp(0, EAGAIN, NLMSG_DONE, 0), EAGAIN);
    assert_int_equal(dump_tcp(NLMSG_DONE, 0, 0, EAGAIN), EAGAIN);
    /* A kernel without IPv6 reports everything for IPv4. */
    assert_int_equal(dump_tcp(NLMSG_DONE, 0, NLMSG_ERROR, ENOENT), 0);
    assert_int_equal(dump_tcp(0, EAGAIN, NLMSG_ERROR, ENOENT), EAGAIN);
    assert_int_equal(dump_tcp(NLMSG_ERROR, ENOENT, NLMSG_ERROR, ENOENT),
                     ENOTSUP);
}

static void count(const sock_diag_socket_t *at, uint32_t n, void *ctx)
{
    (void)at;
    (void)n;
    ++*(int *)ctx;
}

/* @return how many sockets were reported */
static int dump_after(int some, int type, int reason, int *result)
{
    int reported = 0;

    request = 0;
    sockets = some;
    responses[0].type = type;
    responses[0].reason = reason;
    *result = sock_diag_unix(count, &reported);
    return reported;
}

/* /proc/net/unix has the same sockets again. */
static void no_socket_is_reported_twice(void **state)
{
    int result, listens = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un own = {.sun_family = AF_UNIX};

    (void)state;
    assert_int_equal(
        bind(listens, (struct sockaddr *)&own, sizeof own.sun_family), 0);
    assert_int_equal(listen(listens, 1), 0);
    assert_int_equal(dump_after(2, NLMSG_DONE, 0, &result), 2);
    assert_int_equal(result, 0);
    assert_int_equal(dump_after(2, NLMSG_ERROR, ENOMEM, &result), 2);
    assert_int_equal(result, -1);
    assert_int_equal(errno, ENOMEM);
    assert_true(dump_after(0, NLMSG_ERROR, ENOMEM, &result) > 0);
    assert_int_equal(result, 0);
    close(listens);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dump_ends_with_done),
        cmocka_unit_test(a_kernel_that_cannot_dump),
        cmocka_unit_test(both_families_of_tcp),
        cmocka_unit_test(no_socket_is_reported_twice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
