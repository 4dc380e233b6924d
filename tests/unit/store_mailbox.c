/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Listeners stay in the mailbox while no store runs. A connect waits then. */

#include "store/server/mailbox.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/server/store_listener.h"

static int ends[2];
static char dir[] = "/tmp/apst-XXXXXX";
static char path[64];

/* As httpd's parent does it. */
static void make_room(int fd)
{
    int size = 1 << 20;

    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size) != 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
}

static int setup(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/apst-XXXXXX");
    snprintf(path, sizeof path, "%s/s", mkdtemp(dir));
    store_mailbox_open(-1, -1);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return -1;
    make_room(ends[0]);
    store_mailbox_open(ends[0], ends[1]);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    close(ends[0]);
    close(ends[1]);
    unlink(path);
    return rmdir(dir);
}

typedef struct {
    char names[300][STORE_NAME];
    int fds[300];
    int n;
} taken_t;

static void take(void *ctx, const char *name, int fd)
{
    taken_t *t = ctx;

    snprintf(t->names[t->n], STORE_NAME, "%s", name);
    t->fds[t->n++] = fd;
}

static int look(taken_t *t)
{
    int n;

    t->n = 0;
    n = store_mailbox_peek(take, t);
    assert_int_equal(n, t->n);
    return n;
}

static void close_taken(taken_t *t)
{
    while (t->n-- > 0)
        close(t->fds[t->n]);
}

static int connect_to(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof address.sun_path, "%s", name);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

/* A store dies with its listener. */
static void leave_a_listener(void)
{
    pid_t pid = fork();
    int fd, status;

    if (pid == 0) {
        fd = store_listener_make(path);
        _exit(fd < 0 || store_mailbox_put("shop", fd) != 0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void a_connect_waits_for_the_next_store(void **state)
{
    static taken_t taken;
    char byte = 0;
    uid_t uid = 99;
    int client, server;

    (void)state;
    leave_a_listener();
    client = connect_to(path);
    assert_true(client >= 0);
    assert_int_equal(write(client, "x", 1), 1);
    assert_int_equal(look(&taken), 1);
    assert_string_equal(taken.names[0], "shop");
    assert_true(store_listener_is(taken.fds[0], path));
    server = store_listener_accept(taken.fds[0], &uid);
    assert_true(server >= 0);
    assert_int_equal(uid, geteuid());
    assert_int_equal(read(server, &byte, 1), 1);
    assert_int_equal(byte, 'x');
    assert_int_equal(store_listener_accept(taken.fds[0], &uid), -1);
    assert_int_equal(errno, EAGAIN);
    close(client);
    close(server);
    close_taken(&taken);
}

static void a_peek_leaves_all(void **state)
{
    static taken_t taken;
    int i;

    (void)state;
    assert_int_equal(look(&taken), 0);
    leave_a_listener();
    for (i = 0; i < 3; i++) {
        assert_int_equal(look(&taken), 1);
        close_taken(&taken);
    }
}

static int is_even(void *ctx, const char *name, int fd)
{
    (void)ctx;
    (void)fd;
    return atoi(name) % 2 == 0;
}

/* As many as there may be spaces. */
static void the_others_stay(void **state)
{
    static taken_t taken;
    char name[16];
    int i, null = open("/dev/null", O_RDWR | O_CLOEXEC);

    (void)state;
    for (i = 0; i < STORE_SPACES; i++) {
        snprintf(name, sizeof name, "%d", i);
        assert_int_equal(store_mailbox_put(name, null), 0);
    }
    assert_int_equal(store_mailbox_keep(is_even, NULL), 0);
    assert_int_equal(look(&taken), STORE_SPACES / 2);
    for (i = 0; i < taken.n; i++)
        assert_int_equal(atoi(taken.names[i]), 2 * i);
    close_taken(&taken);
    close(null);
}

static int room(void)
{
    int size = 0;
    socklen_t n = sizeof size;

    assert_int_equal(getsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &size, &n), 0);
    return size;
}

/* The store may not be allowed to have that much. */
static void it_has_the_room_of_its_maker(void **state)
{
    int size = 1 << 16, before;

    (void)state;
    assert_int_equal(
        setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size), 0);
    before = room();
    store_mailbox_open(ends[0], ends[1]);
    assert_int_equal(room(), before);
}

/* What was taken out refuses a connect again. */
static int none(void *ctx, const char *name, int fd)
{
    (void)ctx;
    (void)fd;
    (void)name;
    return 0;
}

static void what_was_taken_out_refuses(void **state)
{
    int client;

    (void)state;
    leave_a_listener();
    client = connect_to(path);
    assert_true(client >= 0);
    close(client);
    assert_int_equal(store_mailbox_keep(none, NULL), 0);
    assert_int_equal(connect_to(path), -1);
    assert_int_equal(errno, ECONNREFUSED);
}

/* Bytes without a descriptor, or with another kind of one. */
static void other_messages_are_no_listeners(void **state)
{
    static taken_t taken;

    (void)state;
    assert_int_equal(write(ends[0], "shop", 4), 4);
    assert_int_equal(store_mailbox_put("other", ends[0]), 0);
    assert_int_equal(look(&taken), 1);
    assert_string_equal(taken.names[0], "other");
    assert_false(store_listener_is(taken.fds[0], path));
    close_taken(&taken);
    /* A socket that contains itself is freed only when it is taken out. */
    assert_int_equal(store_mailbox_keep(none, NULL), 0);
    assert_int_equal(look(&taken), 0);
}

static void a_listener_of_another_path_is_not_ours(void **state)
{
    char other[80];
    int fd = store_listener_make(path);
    struct stat st;

    (void)state;
    assert_true(fd >= 0);
    snprintf(other, sizeof other, "%sx", path);
    assert_true(store_listener_is(fd, path));
    assert_false(store_listener_is(fd, other));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0666);
    unlink(path);
    assert_false(store_listener_is(fd, path));
    close(fd);
    fd = store_listener_make(path);
    assert_true(fd >= 0);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_connect_waits_for_the_next_store,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_peek_leaves_all, setup, teardown),
        cmocka_unit_test_setup_teardown(the_others_stay, setup, teardown),
        cmocka_unit_test_setup_teardown(it_has_the_room_of_its_maker, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_was_taken_out_refuses, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(other_messages_are_no_listeners, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_listener_of_another_path_is_not_ours,
                                        setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
