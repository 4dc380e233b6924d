/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Parking sockets, and how a child uses parked connections. */

#include "base/parking.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/no_descriptors.h"

#ifndef SO_PASSPIDFD
#define SO_PASSPIDFD 76
#endif

static int sockets[PARKING_MAX];

static int open_lot(int n)
{
    int lot = parking_make(n);

    assert_true(lot >= 0);
    assert_int_equal(parking_open(lot, sockets), n);
    return lot;
}

static void close_lot(int lot, int n)
{
    while (n-- > 0)
        close(sockets[n]);
    close(lot);
}

/* What the app gets next: a byte, or 0 at the end. */
static int next(int app)
{
    char byte;

    return recv(app, &byte, 1, MSG_DONTWAIT) == 1 ? byte : 0;
}

static int is_open(int app)
{
    char byte;

    return recv(app, &byte, 1, MSG_DONTWAIT | MSG_PEEK) < 0 && errno == EAGAIN;
}

static void a_copy_is_the_same_connection(void **state)
{
    int lot = open_lot(2), ends[2], copy, again;

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_int_equal(parking_copy(sockets[1]), -1);
    assert_int_equal(parking_put(sockets[1], ends[0]), 0);
    assert_int_equal(parking_copy(sockets[0]), -1);
    copy = parking_copy(sockets[1]);
    again = parking_copy(sockets[1]);
    assert_true(copy >= 0 && again >= 0 && copy != again);
    assert_true(fcntl(copy, F_GETFD) & FD_CLOEXEC);
    close(ends[0]);
    assert_int_equal(write(copy, "a", 1), 1);
    close(copy);
    assert_int_equal(next(ends[1]), 'a');
    assert_true(is_open(ends[1])); /* by what is parked */
    parking_cut(sockets[1]);
    assert_int_equal(next(ends[1]), 0);
    assert_false(is_open(ends[1])); /* although there is a copy */
    assert_int_equal(parking_copy(sockets[1]), -1);
    close(again);
    close(ends[1]);
    close_lot(lot, 2);
}

static void the_next_one_cuts_the_last(void **state)
{
    int lot = open_lot(1), first[2], second[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, first), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, second), 0);
    assert_int_equal(parking_put(sockets[0], first[0]), 0);
    assert_int_equal(parking_put(sockets[0], second[0]), 0);
    assert_false(is_open(first[1]));
    assert_true(is_open(second[1]));
    parking_cut(sockets[0]);
    assert_false(is_open(second[1]));
    close(first[0]);
    close(first[1]);
    close(second[0]);
    close(second[1]);
    close_lot(lot, 1);
}

static void all_see_the_same_sockets(void **state)
{
    int lot = parking_make(PARKING_MAX), ends[2], status, copy;
    pid_t pid;

    (void)state;
    assert_true(lot >= 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    pid = fork();
    if (pid == 0) {
        int n = parking_open(lot, sockets);

        close(ends[1]);
        _exit(n != PARKING_MAX || parking_put(sockets[n - 1], ends[0]) != 0);
    }
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(parking_open(lot, sockets), PARKING_MAX);
    copy = parking_copy(sockets[PARKING_MAX - 1]);
    assert_true(copy >= 0);
    assert_int_equal(write(copy, "b", 1), 1);
    assert_int_equal(next(ends[1]), 'b');
    close(copy);
    close(ends[1]);
    close_lot(lot, PARKING_MAX);
}

static void no_other_user_sends_there(void **state)
{
    int lot = open_lot(1), stranger = socket(AF_UNIX, SOCK_DGRAM, 0);
    struct sockaddr_un at;
    socklen_t size = sizeof at;

    (void)state;
    assert_int_equal(getsockname(sockets[0], (struct sockaddr *)&at, &size), 0);
    assert_int_equal(
        sendto(stranger, "x", 1, MSG_DONTWAIT, (struct sockaddr *)&at, size),
        -1);
    assert_int_equal(errno, EPERM);
    close(stranger);
    close_lot(lot, 1);
}

static void a_child_with_few_files_has_none(void **state)
{
    int lot = parking_make(100), before, after;
    struct rlimit own, few = {60, 60};

    (void)state;
    before = dup(0);
    close(before);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &own), 0);
    few.rlim_max = own.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    assert_int_equal(parking_open(lot, sockets), -1);
    assert_int_equal(errno, EMFILE);
    assert_int_equal(parking_make(100), -1);
    setrlimit(RLIMIT_NOFILE, &own);
    after = dup(0);
    close(after);
    assert_int_equal(after, before); /* all were closed */
    close(lot);
}

static void nothing_is_lost_when_no_file_can_be_opened(void **state)
{
    int lot = open_lot(1), ends[2], next_fd;
    struct rlimit own, few;

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_int_equal(parking_put(sockets[0], ends[0]), 0);
    next_fd = dup(0);
    close(next_fd);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &own), 0);
    few = own;
    few.rlim_cur = (rlim_t)next_fd;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    parking_cut(sockets[0]);
    setrlimit(RLIMIT_NOFILE, &own);
    parking_cut(sockets[0]);
    assert_false(is_open(ends[1]));
    close(ends[0]);
    close(ends[1]);
    close_lot(lot, 1);
}

static void nonsense_is_refused(void **state)
{
    int lot = open_lot(1);
    int null = open("/dev/null", O_RDWR), none[PARKING_MAX];

    (void)state;
    assert_int_equal(parking_make(0), -1);
    assert_int_equal(parking_make(PARKING_MAX + 1), -1);
    assert_int_equal(parking_open(null, none), -1);
    assert_int_equal(send(sockets[0], "x", 1, 0), 1); /* no descriptor */
    assert_int_equal(parking_copy(sockets[0]), -1);
    parking_cut(sockets[0]);
    assert_int_equal(parking_put(sockets[0], null), 0);
    parking_cut(sockets[0]); /* no socket */
    close(null);
    close_lot(lot, 1);
}

/* ---- what a hostile child does to the socket ---- */

static void set(int fd, int option, int value)
{
    assert_int_equal(setsockopt(fd, SOL_SOCKET, option, &value, sizeof value),
                     0);
}

static int next_descriptor(void)
{
    int fd = dup(0);

    close(fd);
    return fd;
}

/* A connection is parked, used and cut. */
static void must_work(int option, int value)
{
    int ends[2], copy;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    set(sockets[0], option, value);
    assert_int_equal(parking_put(sockets[0], ends[0]), 0);
    set(sockets[0], option, value);
    copy = parking_copy(sockets[0]);
    assert_true(copy >= 0);
    assert_int_equal(write(copy, "a", 1), 1);
    assert_int_equal(next(ends[1]), 'a');
    assert_true(is_open(ends[1]));
    set(sockets[0], option, value);
    parking_restore(sockets[0]); /* as the spawner does */
    parking_cut(sockets[0]);
    assert_false(is_open(ends[1]));
    close(copy);
    close(ends[0]);
    close(ends[1]);
}

/* Has this kernel such an option? */
static int is_known(int option, int value)
{
    return setsockopt(sockets[0], SOL_SOCKET, option, &value, sizeof value) ==
           0;
}

static void options_of_a_child_are_set_back(void **state)
{
    int lot = open_lot(1), before = next_descriptor();

    (void)state;
    must_work(SO_PASSCRED, 1);
    must_work(SO_PEEK_OFF, 1);
    if (is_known(SO_PASSPIDFD, 1))
        must_work(SO_PASSPIDFD, 1);
    if (is_known(SO_PASSRIGHTS, 0))
        must_work(SO_PASSRIGHTS, 0);
    assert_int_equal(next_descriptor(), before);
    close_lot(lot, 1);
}

/* Also without the spawner: the child that has the process cuts it. */
static void what_comes_before_a_descriptor_is_no_shield(void **state)
{
    int lot = open_lot(1), ends[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_int_equal(parking_put(sockets[0], ends[0]), 0);
    set(sockets[0], SO_PASSCRED, 1);
    parking_cut(sockets[0]);
    assert_false(is_open(ends[1]));
    close(ends[0]);
    close(ends[1]);
    close_lot(lot, 1);
}

/* The kernel opens a descriptor of the sender for each message. */
static void no_descriptor_stays_open(void **state)
{
    int lot = open_lot(1), before = next_descriptor(), i;

    (void)state;
    if (!is_known(SO_PASSPIDFD, 1)) {
        close_lot(lot, 1);
        skip();
    }
    for (i = 0; i < 4; i++) {
        set(sockets[0], SO_PASSPIDFD, 1);
        assert_int_equal(send(sockets[0], "x", 1, MSG_DONTWAIT), 1);
        assert_int_equal(parking_copy(sockets[0]), -1);
        set(sockets[0], SO_PASSPIDFD, 1);
        parking_cut(sockets[0]);
    }
    assert_int_equal(next_descriptor(), before);
    close_lot(lot, 1);
}

/* fcntl() is for the open file, so for all. */
static void nothing_blocks(void **state)
{
    int lot = open_lot(1), ends[2], i;

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_int_equal(fcntl(sockets[0], F_SETFL, 0), 0);
    assert_int_equal(parking_copy(sockets[0]), -1);
    parking_cut(sockets[0]);
    for (i = 0; i < 1000 && send(sockets[0], "x", 1, MSG_DONTWAIT) == 1; i++)
        ;
    assert_true(i > 0 && i < 1000); /* its queue is full */
    alarm(300);
    assert_int_equal(parking_copy(sockets[0]), -1);
    parking_cut(sockets[0]);
    assert_int_equal(parking_put(sockets[0], ends[0]), 0);
    assert_int_equal(shutdown(sockets[0], SHUT_RDWR), 0);
    parking_cut(sockets[0]);
    parking_cut(sockets[0]);
    assert_int_equal(parking_copy(sockets[0]), -1);
    assert_int_equal(parking_put(sockets[0], ends[0]), -1);
    alarm(0);
    assert_false(is_open(ends[1]));
    close(ends[0]);
    close(ends[1]);
    close_lot(lot, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_is_the_same_connection),
        cmocka_unit_test(the_next_one_cuts_the_last),
        cmocka_unit_test(all_see_the_same_sockets),
        cmocka_unit_test(no_other_user_sends_there),
        cmocka_unit_test(a_child_with_few_files_has_none),
        cmocka_unit_test(nothing_is_lost_when_no_file_can_be_opened),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(options_of_a_child_are_set_back),
        cmocka_unit_test(what_comes_before_a_descriptor_is_no_shield),
        cmocka_unit_test(no_descriptor_stays_open),
        cmocka_unit_test(nothing_blocks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
