/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A master that speaks TLS, and sends back what it gets. */

#include "tests/unit/support/relay_scene.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>

#include "store/cluster/stream.h"

#define LIMIT 40000 /* ms */
#define HEAD  24

static struct {
    pthread_t thread;
    const char *key, *space;
    int stop; /* atomic */
} echo;

static void send_back(store_stream_t *s)
{
    char buffer[20000];
    struct pollfd p = {store_stream_fd(s), 0, 0};
    ssize_t n;

    for (;;) {
        n = store_stream_read(s, buffer, sizeof buffer);
        if (n > 0 && store_stream_write_all(s, buffer, (size_t)n, LIMIT) != 0)
            return;
        if (n == 0 || (n < 0 && errno != EAGAIN))
            return;
        p.events = store_stream_events(s);
        if (n < 0)
            poll(&p, 1, LIMIT);
    }
}

static void echo_to(int fd)
{
    char packet[SCENE_NAME], got[SCENE_NAME] = "";
    size_t n = scene_put_name(packet, echo.space);
    store_stream_t *s = store_stream_make(
        fd, 1, (const unsigned char *)echo.key, (unsigned)strlen(echo.key));

    if (s && store_stream_read_all(s, got, n, LIMIT) == 0 &&
        memcmp(got, packet, n) == 0) {
        memset(got, 0, HEAD);
        got[0] = (char)0x81;
        got[1] = (char)STORE_RELAY_SPACE;
        if (store_stream_write_all(s, got, HEAD, LIMIT) == 0)
            send_back(s);
    }
    store_stream_close(s);
}

static void *run_echo(void *ctx)
{
    struct pollfd p = {scene_listener(), POLLIN, 0};

    while (!__atomic_load_n(&echo.stop, __ATOMIC_ACQUIRE))
        if (poll(&p, 1, 20) == 1)
            echo_to(accept4(scene_listener(), NULL, NULL, SOCK_CLOEXEC));
    return ctx;
}

void scene_echo_begin(const char *key, const char *name)
{
    echo.key = key;
    echo.space = name;
    echo.stop = 0;
    assert_int_equal(pthread_create(&echo.thread, NULL, run_echo, NULL), 0);
}

void scene_echo_end(void)
{
    __atomic_store_n(&echo.stop, 1, __ATOMIC_RELEASE);
    pthread_join(echo.thread, NULL);
}
