/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Root asks the store for a handover, by a socket of the store itself. */

#include <errno.h>
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
#include <unistd.h>
/* Its own order matters. */
#include <cmocka.h>

#include "base/clock_ms.h"
#include "store/server/admin_socket.h"
#include "store/server/main_loop.h"
#include "tests/unit/support/notes.h"

static char runtime[] = "/tmp/store-admin-XXXXXX";
static char directory[64];
static const char *why;
static int asked;

static const char *handover(void)
{
    asked++;
    return why;
}

static const char *other(void)
{
    return "not now";
}

static const store_admin_request_t requests[] = {
    {"handover\n", handover}, {"other\n", other}, {NULL, NULL}};

/* ---- what the kernel is asked ---- */

static int shortage; /* errno of accept(); 0: none */
static int tries;

int __real_accept4(int fd, struct sockaddr *from, socklen_t *size, int flags);
int __wrap_accept4(int fd, struct sockaddr *from, socklen_t *size, int flags);

int __wrap_accept4(int fd, struct sockaddr *from, socklen_t *size, int flags)
{
    tries++;
    if (shortage == 0)
        return __real_accept4(fd, from, size, flags);
    errno = shortage;
    return -1;
}

static int begin(void **state)
{
    (void)state;
    if (!mkdtemp(runtime) || store_loop_begin() != 0)
        return -1;
    snprintf(directory, sizeof directory, "%s/m", runtime);
    return mkdir(directory, 0700) != 0 ||
           store_admin_begin(directory, requests) != 0;
}

static int end(void **state)
{
    (void)state;
    store_admin_end();
    return rmdir(directory) != 0 || rmdir(runtime) != 0;
}

static int connect_only(void)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(at.sun_path, sizeof at.sun_path, "%.60s/admin", directory);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    return fd;
}

static int connect_to_store(void)
{
    int fd = connect_only();

    store_loop_turn(1000); /* it accepts */
    return fd;
}

static void ask(const char *request, const char *response)
{
    char got[256] = "";
    int fd = connect_to_store();

    assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL),
                     strlen(request));
    store_loop_turn(1000);
    assert_true(recv(fd, got, sizeof got - 1, 0) > 0);
    assert_string_equal(got, response);
    assert_int_equal(recv(fd, got, sizeof got, 0), 0);
    close(fd);
}

static void a_handover_is_done(void **state)
{
    (void)state;
    why = NULL;
    asked = 0;
    ask("handover\n", "OK\n");
    assert_int_equal(asked, 1);
}

static void a_refusal_has_a_reason(void **state)
{
    (void)state;
    why = "no slave has the whole copy";
    asked = 0;
    ask("handover\n", "ERROR no slave has the whole copy\n");
    assert_int_equal(asked, 1);
}

static void other_requests_do_nothing(void **state)
{
    (void)state;
    asked = 0;
    ask("other\n", "ERROR not now\n");
    ask("handover", "ERROR the store knows no such request\n");
    ask("shutdown\n", "ERROR the store knows no such request\n");
    assert_int_equal(asked, 0);
}

static void a_client_may_leave(void **state)
{
    int fd = connect_to_store();

    (void)state;
    asked = 0;
    close(fd);
    store_loop_turn(1000);
    assert_int_equal(asked, 0);
}

/* The connection waits, and the listener is readable all the time. */
static void without_descriptors_it_rests(void **state)
{
    static const int errors[] = {EMFILE, ENFILE, ENOMEM, ENOBUFS};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof errors / sizeof *errors; i++) {
        int fd = connect_only(), turns;
        int64_t began = clock_ms();

        shortage = errors[i];
        tries = 0;
        for (turns = 0; turns < 100; turns++)
            store_loop_turn(1);
        assert_true(tries >= 1);
        assert_true(tries <= 2 + (clock_ms() - began) / 100);
        shortage = 0;
        for (tries = 0; tries == 0;)
            store_loop_turn(1000);
        close(fd);
        store_loop_turn(1000);
    }
    assert_int_equal(notes_count(""), 1);
}

static void connect_as(uid_t uid)
{
    int fd;

    assert_int_equal(seteuid(uid), 0);
    fd = connect_only();
    assert_int_equal(seteuid(0), 0);
    store_loop_turn(1000);
    close(fd);
}

/* Whoever may connect could fill the log. */
static void refusals_are_one_line_a_minute(void **state)
{
    int i;

    (void)state;
    if (getuid() != 0)
        skip();
    assert_int_equal(chmod(runtime, 0711) | chmod(directory, 0711), 0);
    notes_clear();
    tries = 0;
    for (i = 0; i < 5; i++)
        connect_as(65534);
    assert_int_equal(tries, 5);
    assert_int_equal(notes_count(""), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_handover_is_done),
        cmocka_unit_test(a_refusal_has_a_reason),
        cmocka_unit_test(other_requests_do_nothing),
        cmocka_unit_test(a_client_may_leave),
        cmocka_unit_test(without_descriptors_it_rests),
        cmocka_unit_test(refusals_are_one_line_a_minute),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
