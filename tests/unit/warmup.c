/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* AppReady /path: who is asked, and how. */

#include "spawner/warmup.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/scene.h"

static const table_app_t app = {.ready = "/up", .host = "a.example"};
static spawner_t s;
static process_t p;
static int server;

static int connect_both(void **state)
{
    int ends[2];

    (void)state;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
                   ends) != 0)
        return -1;
    memset(&p, 0, sizeof p);
    s.now = 1;
    p.probe = ends[0];
    server = ends[1];
    return 0;
}

static int close_both(void **state)
{
    (void)state;
    if (p.probe >= 0)
        close(p.probe);
    return close(server);
}

static void over_http(void **state)
{
    char asked[512];
    ssize_t n;

    (void)state;
    assert_int_equal(warmup_look(&s, &p, &app), 0);
    n = recv(server, asked, sizeof asked - 1, 0);
    assert_true(n > 0);
    asked[n] = 0;
    assert_non_null(strstr(asked, "GET /up HTTP/1.1\r\nHost: a.example\r\n"));
    assert_int_equal(send(server, "HTTP/1.1 200 OK\r\n\r\n", 19, 0), 19);
    assert_int_equal(shutdown(server, SHUT_WR), 0);
    assert_int_equal(warmup_look(&s, &p, &app), 1);
}

/* The app table says http, but that is for those that are started now. */
static void a_process_of_an_older_configuration(void **state)
{
    char asked[512];

    (void)state;
    p.is.wire.protocol = APL_FCGI;
    assert_int_equal(warmup_look(&s, &p, &app), 1);
    assert_int_equal(recv(server, asked, sizeof asked, 0), -1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, connect_both, close_both)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(over_http), TEST(a_process_of_an_older_configuration)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
