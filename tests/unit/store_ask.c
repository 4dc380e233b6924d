/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* One host asks another one which data it has. Both are this process. */

#include "store/cluster/peers.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock_ms.h"
#include "base/heartbeat.h"
#include "store/cluster/follower_state.h"
#include "store/cluster/vip.h"
#include "store/memory/region.h"
#include "base/secret.h"
#include "tests/unit/support/notes.h"
#include "tests/unit/support/shelf.h"

#define LIMIT 40000 /* ms */

static shelf_t shelf;
static store_cluster_t config;
static unsigned shortages;

void heartbeat(void)
{
}

/* The address of the peer is here for the thread that answers, and not for the
 * one that asks. */
static _Thread_local int asks;

int __wrap_store_vip_is_here(const store_address_t *);
int __wrap_store_vip_is_here(const store_address_t *address)
{
    (void)address;
    return !asks;
}

/* ---- the loop of the host that answers ---- */

static struct {
    int fd;
    void (*call)(void *);
    void *ctx;
} watched[40];
static unsigned n_watched;

static int watch(int fd, void (*call)(void *), void *ctx)
{
    watched[n_watched].fd = fd;
    watched[n_watched].call = call;
    watched[n_watched++].ctx = ctx;
    return 0;
}

static void unwatch(int fd)
{
    unsigned i;

    for (i = 0; watched[i].fd != fd; i++)
        assert_true(i < n_watched);
    watched[i] = watched[--n_watched];
}

static void pump(void)
{
    unsigned i;

    for (i = n_watched; i-- > 0;) {
        struct pollfd p = {watched[i].fd, POLLIN, 0};

        if (poll(&p, 1, 1) == 1)
            watched[i].call(watched[i].ctx);
    }
}

static void shortage(int listener)
{
    (void)listener;
    shortages++;
}

static store_space_t *nth(unsigned n)
{
    return n == 0 ? shelf.space : NULL;
}

static store_space_t *find(const char *name)
{
    (void)name;
    return shelf.space;
}

static const store_cluster_hooks_t hooks = {.config = &config,
                                            .nth = nth,
                                            .find = find,
                                            .watch = watch,
                                            .unwatch = unwatch,
                                            .shortage = shortage};

/* ---- the host that asks ---- */

static store_answers_t answers;
static int is_over; /* atomic */
static int ms;

static void *ask(void *ctx)
{
    (void)ctx;
    asks = 1;
    store_peers_ask(&hooks, ms, -1, &answers);
    __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void ask_and_answer(void)
{
    pthread_t thread;

    is_over = 0;
    assert_int_equal(pthread_create(&thread, NULL, ask, NULL), 0);
    while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE))
        pump();
    pthread_join(thread, NULL);
}

static uint16_t free_port(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t size = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, size), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &size), 0);
    close(fd);
    return ntohs(a.sin_port);
}

static int setup(void **state)
{
    (void)state;
    shelf_open(&shelf, 16, 1);
    memset(&config, 0, sizeof config);
    store_address_parse("127.0.0.9", &config.vip);
    store_address_parse("127.0.0.1", &config.peer[config.n_peers++]);
    config.port_repl = free_port();
    if (secret_is_supported()) {
        config.n_secret = STORE_SECRET_MIN;
        memset(config.secret, 's', config.n_secret);
    }
    store_region_directory()->history =
        (store_history_t){.number = 3, .n = 2, .epoch = {{7, 70}, {6, 60}}};
    ms = LIMIT;
    store_peers_begin(&hooks);
    assert_int_equal(n_watched, 1);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    store_peers_end();
    assert_int_equal(n_watched, 0);
    assert_int_equal(shortages, 0);
    shelf_close(&shelf);
    return 0;
}

static void a_host_tells_its_history(void **state)
{
    (void)state;
    ask_and_answer();
    assert_int_equal(answers.n, 1);
    assert_true(store_address_equal(&answers.answer[0].from, &config.peer[0]));
    assert_memory_equal(&answers.answer[0].history,
                        &store_region_directory()->history,
                        sizeof(store_history_t));
}

/* So the other one knows if there are two of them. */
static void a_master_says_that_it_is_one(void **state)
{
    uint64_t *role = &store_region_figures()->cluster.role;

    (void)state;
    for (*role = STORE_ALONE; *role <= STORE_SLAVE; ++*role) {
        ask_and_answer();
        assert_int_equal(answers.n, 1);
        assert_int_equal(answers.answer[0].is_master, *role == STORE_MASTER);
    }
}

static void a_part_of_a_copy_is_no_answer(void **state)
{
    (void)state;
    store_region_directory()->lacks = 1;
    ask_and_answer();
    assert_int_equal(answers.n, 1);
    assert_int_equal(answers.answer[0].history.n, 0);
}

/* Nobody waits longer than a second for a host that is gone, or that says
 * nothing. */
static void a_host_that_is_silent_is_not_waited_for(void **state)
{
    pthread_t thread;

    (void)state;
    ms = 50;
    is_over = 0;
    assert_int_equal(pthread_create(&thread, NULL, ask, NULL), 0);
    pthread_join(thread, NULL);
    assert_int_equal(answers.n, 0);
    store_peers_end();
    ask_and_answer();
    assert_int_equal(answers.n, 0);
    store_peers_begin(&hooks);
}

/* The others are asked at their own addresses, and a yrmcds is not. */
static void some_hosts_do_not_ask(void **state)
{
    store_address_t other;

    (void)state;
    assert_true(store_peers_is_one(&config, &config.peer[0]));
    assert_false(store_peers_is_one(&config, &config.vip));
    store_address_parse("127.0.0.5", &other);
    assert_false(store_peers_is_one(&config, &other));
    config.plain[config.n_plain++] = config.peer[0];
    assert_int_equal(store_peers_is_one(&config, &config.peer[0]),
                     config.n_secret == 0);
    config.n_secret = 0;
    assert_true(store_peers_is_one(&config, &config.peer[0]));
}

static int connect_from(const char *host)
{
    struct sockaddr_in from = {.sin_family = AF_INET};
    struct sockaddr_storage to;
    socklen_t size =
        store_address_socket(&config.peer[0], config.port_repl, &to);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(inet_pton(AF_INET, host, &from.sin_addr), 1);
    assert_int_equal(bind(fd, (struct sockaddr *)&from, sizeof from), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, size), 0);
    return fd;
}

/* The host that answers has taken it. */
static int enter_from(const char *host)
{
    int fd = connect_from(host);

    while (poll(&(struct pollfd){watched[0].fd, POLLIN, 0}, 1, 0) == 0)
        ;
    pump();
    assert_true(n_watched <= 17);
    return fd;
}

/* They have connected, and say nothing. */
static void silent_hosts_keep_nobody_out(void **state)
{
    int fd[40];
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof fd / sizeof *fd; i++)
        fd[i] = enter_from("127.0.0.1");
    ask_and_answer();
    assert_int_equal(answers.n, 1);
    store_peers_tick(clock_ms() + 3001);
    assert_int_equal(n_watched, 1);
    for (i = 0; i < sizeof fd / sizeof *fd; i++)
        close(fd[i]);
}

/* A user of another peer's host connects as often as it can. */
static void a_host_that_asks_often_keeps_no_other_out(void **state)
{
    int slow, fd[40];
    unsigned i;

    (void)state;
    store_address_parse("127.0.0.2", &config.peer[config.n_peers++]);
    slow = enter_from("127.0.0.2");
    for (i = 0; i < sizeof fd / sizeof *fd; i++)
        fd[i] = enter_from("127.0.0.1");
    assert_int_equal(poll(&(struct pollfd){slow, POLLIN, 0}, 1, 0), 0);
    assert_int_equal(poll(&(struct pollfd){fd[0], POLLIN, 0}, 1, 0), 1);
    for (i = 0; i < sizeof fd / sizeof *fd; i++)
        close(fd[i]);
    close(slow);
}

/* Nobody learns what it has, and an older host may become the master. */
static void a_port_that_is_taken_is_logged(void **state)
{
    store_address_t peer = config.peer[0];
    int other;

    (void)state;
    store_peers_end();
    other = store_vip_listen(&peer, config.port_repl);
    assert_true(other >= 0);
    notes_clear();
    store_peers_begin(&hooks);
    store_peers_tick(clock_ms());
    assert_int_equal(n_watched, 0);
    assert_true(store_peers_is_deaf());
    assert_int_equal(notes_count("where other hosts ask which data it has: "
                                 "Address already in use"),
                     1);
    close(other);
    store_peers_tick(clock_ms());
    assert_false(store_peers_is_deaf());
    notes_expect("the store listens at 127.0.0.1");
    ask_and_answer();
    assert_int_equal(answers.n, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_host_tells_its_history),
        TEST(a_master_says_that_it_is_one),
        TEST(a_part_of_a_copy_is_no_answer),
        TEST(a_host_that_is_silent_is_not_waited_for),
        TEST(some_hosts_do_not_ask),
        TEST(silent_hosts_keep_nobody_out),
        TEST(a_host_that_asks_often_keeps_no_other_out),
        TEST(a_port_that_is_taken_is_logged),
    };

    alarm(300);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
