/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/dial.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock_ms.h"
#include "store/cluster/hello.h"
#include "store/cluster/history.h"

#define LIMIT 3000 /* ms for a connection, and again for its handshake */

int store_dial_await(int fd, short events, int bell, int64_t ms)
{
    struct pollfd fds[2] = {{fd, events, 0}, {bell, POLLIN, 0}};

    if (poll(fds, 2, ms < 0 ? 0 : (int)ms) < 0)
        return errno == EINTR ? 0 : -1;
    if (fds[1].revents) {
        errno = ECANCELED;
        return -1;
    }
    return fds[0].revents != 0;
}

/* A host that is gone acknowledges no NUL. */
static int connect_to(const store_cluster_t *config, int bell)
{
    int error, rv,
        fd = store_cluster_connect(&config->vip, config->port_repl,
                                   config->slave_timeout * 1000);

    if (fd < 0)
        return -1;
    rv = store_dial_await(fd, POLLOUT, bell, LIMIT);
    if (rv == 0)
        errno = ETIMEDOUT;
    if (rv > 0 && store_cluster_connected(fd) == 0)
        return fd;
    error = errno;
    close(fd);
    errno = error;
    return -1;
}

static int shake_hands(store_stream_t *s, int bell)
{
    int64_t until = clock_ms() + LIMIT, left;

    while (store_stream_handshake(s) != 0) {
        left = until - clock_ms();
        if (errno == EAGAIN && left <= 0)
            errno = ETIMEDOUT;
        if (errno != EAGAIN ||
            store_dial_await(store_stream_fd(s), store_stream_events(s), bell,
                             left) < 0)
            return -1;
    }
    return 0;
}

static int say_hello(const store_cluster_hooks_t *hooks, int is_plain,
                     store_stream_t *s)
{
    size_t n;
    store_history_t mine;
    unsigned char *hello;
    int rv;

    store_history_own(&mine);
    hello = store_hello_make(hooks, is_plain, &mine, 0, &n);
    rv = hello ? store_stream_write_all(s, hello, n, LIMIT) : -1;

    free(hello);
    return rv;
}

store_stream_t *store_dial(const store_cluster_hooks_t *hooks, int is_plain,
                           int bell, int *answered)
{
    const store_cluster_t *config = hooks->config;
    int error, fd = connect_to(config, bell);
    store_stream_t *s;

    *answered = fd >= 0;
    if (fd < 0)
        return NULL;
    s = store_stream_make(fd, 0, is_plain ? NULL : config->secret,
                          config->n_secret);
    if (!s) {
        errno = ENOMEM;
        return NULL;
    }
    if (shake_hands(s, bell) == 0 && say_hello(hooks, is_plain, s) == 0)
        return s;
    error = errno;
    store_stream_close(s);
    errno = error;
    return NULL;
}
