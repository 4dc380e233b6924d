/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Root asks the store for a handover, by a socket of the store itself. */

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

#include "store/server/admin.h"
#include "store/server/loop.h"

static char runtime[] = "/tmp/store-admin-XXXXXX";
static char directory[64];
static const char *why;
static int asked;

static const char *handover(void)
{
    asked++;
    return why;
}

static int begin(void **state)
{
    (void)state;
    if (!mkdtemp(runtime) || store_loop_begin() != 0)
        return -1;
    snprintf(directory, sizeof directory, "%s/m", runtime);
    return mkdir(directory, 0700) != 0 ||
           store_admin_begin(directory, handover) != 0;
}

static int end(void **state)
{
    (void)state;
    store_admin_end();
    return rmdir(directory) != 0 || rmdir(runtime) != 0;
}

static int connect_to_store(void)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(at.sun_path, sizeof at.sun_path, "%.60s/admin", directory);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_handover_is_done),
        cmocka_unit_test(a_refusal_has_a_reason),
        cmocka_unit_test(other_requests_do_nothing),
        cmocka_unit_test(a_client_may_leave),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
