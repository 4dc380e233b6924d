/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/support/relay_scene.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock_ms.h"
#include "store/cluster/follower.h"
#include "tests/unit/support/test_clock.h"

#define LIMIT  40000 /* ms */
#define SLOWER 10 /* the relay's limits are in s, and a test may be stopped */
#define MOVED  10000 /* ms: the relay's clock is not moved further */
#define SERVED 8

static store_cluster_t config;
static store_space_figures_t figures[2];
static store_space_t space[2] = {{.slot = 3, .name = "shop"},
                                 {.slot = 7, .name = "blog"}};
static struct sockaddr_in address;
static int listener;
static int is_yrmcds;  /* atomic */
static int is_unknown; /* atomic */
static int is_lost;    /* atomic */
static int served[SERVED];
static unsigned n_served;

/* ---- what the relay calls ---- */

void store_follower_state(store_follower_state_t *state)
{
    memset(state, 0, sizeof *state);
    state->connected = !__atomic_load_n(&is_unknown, __ATOMIC_RELAXED);
    state->is_yrmcds = __atomic_load_n(&is_yrmcds, __ATOMIC_RELAXED);
}

static int admits(store_space_t *of, int fd)
{
    assert_ptr_equal(of, &space[0]);
    assert_true(fd >= 0);
    return !__atomic_load_n(&is_lost, __ATOMIC_RELAXED);
}

static void serve(store_space_t *of, store_stream_t *stream)
{
    int fd = dup(store_stream_fd(stream));

    assert_ptr_equal(of, &space[0]);
    assert_true(n_served < SERVED);
    served[n_served++] = fd;
    store_stream_close(stream);
}

/* ---- begin and end ---- */

void scene_relay_again(void)
{
    static const store_cluster_hooks_t hooks = {
        .config = &config, .admits = admits, .serve = serve};

    assert_int_equal(store_relay_begin(&hooks), 0);
}

/* The port of a socket that has chosen it itself is free when it listens no
 * more. So it is bound a second time. */
static void open_listener(void)
{
    static const int on = 1;
    socklen_t n = sizeof address;
    int any = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(any, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    assert_int_equal(bind(any, (struct sockaddr *)&address, n), 0);
    assert_int_equal(getsockname(any, (struct sockaddr *)&address, &n), 0);
    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, n), 0);
    close(any); /* until now no other process could get the port */
    assert_int_equal(listen(listener, 1024), 0);
}

void scene_master_leaves(void)
{
    assert_int_equal(shutdown(listener, SHUT_RD), 0);
}

void scene_master_returns(void)
{
    assert_int_equal(listen(listener, 1024), 0);
}

static void raise_limit(void)
{
    struct rlimit files;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = files.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
}

int scene_begin(void **state)
{
    (void)state;
    alarm(300);
    test_clock_slow(SLOWER);
    raise_limit();
    space[0].figures = &figures[0];
    space[1].figures = &figures[1];
    scene_limit("shop", 2000);
    scene_limit("blog", 2000);
    open_listener();
    config.vip.family = AF_INET;
    config.vip.u.v4 = address.sin_addr;
    config.port_memcache = ntohs(address.sin_port);
    snprintf(config.open_space, sizeof config.open_space, "shop");
    scene_relay_again();
    return 0;
}

int scene_end(void **state)
{
    (void)state;
    store_relay_end();
    close(listener);
    return 0;
}

/* ---- what is configured ---- */

void scene_limit(const char *name, uint64_t connections)
{
    __atomic_store_n(&figures[strcmp(name, "blog") == 0].max_connections,
                     connections, __ATOMIC_RELAXED);
}

void scene_is_yrmcds(int yes)
{
    __atomic_store_n(&is_yrmcds, yes, __ATOMIC_RELAXED);
}

void scene_is_unknown(int yes)
{
    store_relay_end();
    __atomic_store_n(&is_unknown, yes, __ATOMIC_RELAXED);
    scene_relay_again();
}

void scene_key(const char *key)
{
    store_relay_end();
    config.n_secret = (unsigned)strlen(key);
    memcpy(config.secret, key, config.n_secret);
    scene_relay_again();
}

void scene_plain_peers(unsigned n)
{
    config.n_plain = n;
}

void scene_is_lost(int yes)
{
    __atomic_store_n(&is_lost, yes, __ATOMIC_RELAXED);
}

int scene_listener(void)
{
    return listener;
}

/* ---- ends ---- */

static void set_limit(int fd)
{
    static const struct timeval limit = {LIMIT / 1000, 0};

    assert_true(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

int scene_client(const char *name)
{
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds),
                     0);
    set_limit(fds[0]);
    store_relay_take(&space[strcmp(name, "blog") == 0],
                     store_stream_make(fds[1], 1, NULL, 0));
    return fds[0];
}

int scene_accept(void)
{
    struct pollfd p = {listener, POLLIN, 0};
    int fd;

    assert_int_equal(poll(&p, 1, LIMIT), 1);
    fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    set_limit(fd);
    return fd;
}

int scene_accept_named(const char *name)
{
    int fd = scene_accept();

    scene_expect_name(fd, name);
    scene_answer_name(fd, 0);
    return fd;
}

int scene_accept_with(const char *bytes)
{
    char got[64];
    size_t n = strlen(bytes);
    int fd;

    for (;;) {
        fd = scene_accept();
        if (recv(fd, got, n, MSG_WAITALL) == (ssize_t)n &&
            memcmp(got, bytes, n) == 0)
            return fd;
        close(fd);
    }
}

/* ---- what has become of them ---- */

int64_t scene_ms(void)
{
    return clock_ms();
}

void scene_later(int64_t ms)
{
    test_clock_later(ms);
}

void scene_later_until_end(int fd)
{
    struct pollfd p = {fd, POLLIN, 0};

    int moved;

    for (moved = 0; moved < MOVED && poll(&p, 1, 1) == 0; moved += 10)
        scene_later(10);
    scene_expect_end(fd);
}

/* The next test must not accept what this one has left. */
static void forget_connections(void)
{
    struct pollfd p = {listener, POLLIN, 0};

    while (poll(&p, 1, 0) == 1 && p.revents == POLLIN)
        close(accept4(listener, NULL, NULL, SOCK_CLOEXEC));
}

void scene_wait_count(unsigned n)
{
    int i;

    for (i = 0; store_relay_count() != n; i++) {
        if (i == LIMIT)
            fail_msg("%u are relayed, not %u", store_relay_count(), n);
        poll(NULL, 0, 1);
    }
    if (n == 0)
        forget_connections();
}

unsigned scene_served(void)
{
    return n_served;
}

int scene_served_with(const char *one, const char *other)
{
    char got[64] = "";
    int found = 0;

    while (n_served > 0) {
        int fd = served[--n_served];

        memset(got, 0, sizeof got);
        set_limit(fd);
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
        scene_read(fd, got, strlen(one));
        found += strcmp(got, one) == 0 || strcmp(got, other) == 0;
        close(fd);
    }
    return found;
}
