/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* AppReady /path: which process gets the request, and how; and how soon its
 * response is noticed. */

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "spawner/start/start.h"
#include "spawner/process/guarded_socket.h"
#include "tests/unit/support/scene.h"

static const app_entry_t app = {.ready = "/up", .host = "a.example"};
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
    s.now = SECOND;
    p.ready.probe = ends[0];
    server = ends[1];
    return 0;
}

static int close_both(void **state)
{
    (void)state;
    if (p.ready.probe >= 0)
        close(p.ready.probe);
    return close(server);
}

static void over_http(void **state)
{
    char asked[512];
    ssize_t n;

    (void)state;
    assert_int_equal(warmup_check(&s, &p, &app), 0);
    n = recv(server, asked, sizeof asked - 1, 0);
    assert_true(n > 0);
    asked[n] = 0;
    assert_non_null(strstr(asked, "GET /up HTTP/1.1\r\nHost: a.example\r\n"));
    assert_int_equal(send(server, "HTTP/1.1 200 OK\r\n\r\n", 19, 0), 19);
    assert_int_equal(shutdown(server, SHUT_WR), 0);
    assert_int_equal(warmup_check(&s, &p, &app), 1);
}

static void send_response(const char *response)
{
    size_t n = strlen(response);

    assert_int_equal(warmup_check(&s, &p, &app), 0);
    assert_int_equal(send(server, response, n, 0), n);
}

static void its_status_counts(void **state)
{
    static const struct {
        const char *response;
        int is_ready;
    } cases[] = {{"HTTP/1.1 200 OK\r\n\r\n", 1},
                 {"HTTP/1.0 302 Found\r\n\r\n", 1},
                 {"HTTP/1.1 100 Continue\r\n\r\n", 0},
                 {"HTTP/1.1 404 Not Found\r\n\r\n", 0},
                 {"HTTP/1.1 500 No\r\n\r\n", 0},
                 {"it is up, 200 times", 0},
                 {"HTTP/1.1 2", 0}};
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        send_response(cases[i].response);
        close(server);
        assert_int_equal(warmup_check(&s, &p, &app), cases[i].is_ready);
        assert_int_equal(connect_both(state), 0);
    }
}

/* Its connection stays open: the end is waited for, but not for long. */
static void a_response_without_an_end(void **state)
{
    (void)state;
    send_response("HTTP/1.1 200 OK\r\n\r\n");
    assert_int_equal(warmup_check(&s, &p, &app), 0);
    s.now += SECOND - 1;
    assert_int_equal(warmup_check(&s, &p, &app), 0);
    s.now++;
    assert_int_equal(warmup_check(&s, &p, &app), 1);
}

/* Where the kernel cannot refuse it. The status came before it. */
static void a_descriptor_behind_the_response(void **state)
{
    char space[CMSG_SPACE(sizeof(int))] = "";
    char more[] = "HTTP/1.1 200 OK\r\n\r\n";
    struct iovec piece = {more, sizeof more - 1};
    struct msghdr message = {.msg_iov = &piece,
                             .msg_iovlen = 1,
                             .msg_control = space,
                             .msg_controllen = sizeof space};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);

    (void)state;
    guarded_socket_by_hand();
    header->cmsg_len = CMSG_LEN(sizeof(int));
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    memcpy(CMSG_DATA(header), &server, sizeof server);
    assert_int_equal(warmup_check(&s, &p, &app), 0);
    assert_int_equal(sendmsg(server, &message, 0), sizeof more - 1);
    assert_int_equal(warmup_check(&s, &p, &app), 1);
}

/* The app table says http, but that is for those that are started now. */
static void a_process_of_an_older_configuration(void **state)
{
    char asked[512];

    (void)state;
    p.is.wire.protocol = APL_FCGI;
    assert_int_equal(warmup_check(&s, &p, &app), 1);
    assert_int_equal(recv(server, asked, sizeof asked, 0), -1);
}

static void a_check_is_late_by_a_part_of_the_time(void **state)
{
    static const int64_t taken[][2] = {{0, 1000},       {16000, 1000},
                                       {160000, 10000}, {640000, 40000},
                                       {SECOND, 50000}, {60 * SECOND, 50000}};
    app_table_t table = {.pool = NULL};
    apr_pool_t *pool;
    size_t i;

    (void)state;
    assert_int_equal(apr_pool_create(&pool, NULL), APR_SUCCESS);
    table.by_name = apr_hash_make(pool);
    apr_hash_set(table.by_name, "shop", APR_HASH_KEY_STRING, &app);
    strcpy(p.is.name, "shop");
    p.is.pid = 4711;
    p.is.wire.listen = APL_LISTEN_TCP;
    s.by_port = apr_hash_make(pool);
    s.table = &table;
    s.processes = &p;
    s.now = p.is.began = 100 * SECOND;
    assert_int_equal(warmup_check(&s, &p, &app), 0);
    for (i = 0; i < sizeof taken / sizeof *taken; i++) {
        s.now = p.is.began + taken[i][0];
        s.wake = s.now + SECOND;
        ready_check(&s);
        assert_int_equal(s.wake - s.now, taken[i][1]);
    }
    /* The time of the request counts, and not that of the start. */
    p.is.began -= 60 * SECOND;
    s.now = p.warmup.sent_at;
    s.wake = s.now + SECOND;
    ready_check(&s);
    assert_int_equal(s.wake - s.now, 1000);
    s.processes = NULL;
    apr_pool_destroy(pool);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, connect_both, close_both)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(over_http),
        TEST(its_status_counts),
        TEST(a_response_without_an_end),
        TEST(a_check_is_late_by_a_part_of_the_time),
        TEST(a_process_of_an_older_configuration),
        TEST(a_descriptor_behind_the_response)}; /* last: by hand it stays */

    assert_int_equal(apr_initialize(), APR_SUCCESS);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
