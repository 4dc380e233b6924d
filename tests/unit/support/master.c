/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/master.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock_ms.h"
#include "store/memory/region.h"
#include "tests/unit/support/notes.h"
#include "tests/unit/support/slave.h"

shelf_t shelf;
store_space_t *blog;
store_cluster_t config;
unsigned master_shortages;
int master_has_tls;

static int listener;
static void (*on_event)(void *);

/* ---- waits ---- */

void master_wait_log(const char *words)
{
    int64_t until = clock_ms() + SLAVE_WAIT;

    while (!notes_count(words)) {
        assert_true(clock_ms() < until);
        poll(NULL, 0, 5);
        store_master_tick(clock_ms());
    }
}

void master_wait_gone(unsigned slot)
{
    uint64_t *joined = &store_region_figures()->cluster.slave[slot].joined;
    int64_t until = clock_ms() + SLAVE_WAIT;

    while (__atomic_load_n(joined, __ATOMIC_ACQUIRE)) {
        assert_true(clock_ms() < until);
        poll(NULL, 0, 5);
        store_master_tick(clock_ms());
    }
}

/* ---- what others give ---- */

store_stream_t *__real_store_stream_make(int, int, const unsigned char *,
                                         unsigned);
store_stream_t *__wrap_store_stream_make(int, int, const unsigned char *,
                                         unsigned);

/* So these tests are the same in a build without OpenSSL. */
store_stream_t *__wrap_store_stream_make(int fd, int is_server,
                                         const unsigned char *secret,
                                         unsigned n_secret)
{
    return __real_store_stream_make(fd, is_server,
                                    master_has_tls ? secret : NULL, n_secret);
}

static int blog_is_gone;    /* atomic */
static unsigned generation; /* atomic */

void master_lose_blog(void)
{
    __atomic_store_n(&blog_is_gone, 1, __ATOMIC_RELEASE);
}

void master_get_blog(void)
{
    __atomic_store_n(&blog_is_gone, 0, __ATOMIC_RELEASE);
    __atomic_add_fetch(&generation, 1, __ATOMIC_RELEASE);
}

static unsigned get_generation(void)
{
    return __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
}

static store_space_t *find(const char *name)
{
    int is_gone = __atomic_load_n(&blog_is_gone, __ATOMIC_ACQUIRE);

    return strcmp(name, "shop") == 0               ? shelf.space
           : strcmp(name, "blog") == 0 && !is_gone ? blog
                                                   : NULL;
}

static store_space_t *nth(unsigned n)
{
    return n == 0 ? shelf.space : n == 1 ? blog : NULL;
}

static int watch(int fd, void (*call)(void *), void *ctx)
{
    assert_int_equal(fd, listener);
    assert_null(ctx);
    on_event = call;
    return 0;
}

static void unwatch(int fd)
{
    assert_int_equal(fd, listener);
    on_event = NULL;
}

static void shortage(int fd)
{
    assert_int_equal(fd, listener);
    if (errno == EMFILE)
        master_shortages++;
}

static const store_cluster_hooks_t hooks = {.config = &config,
                                            .find = find,
                                            .nth = nth,
                                            .generation = get_generation,
                                            .watch = watch,
                                            .unwatch = unwatch,
                                            .shortage = shortage};

static int listen_at(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;

    assert_int_equal(bind(fd, (struct sockaddr *)&at, size), 0);
    assert_int_equal(listen(fd, 128), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
    config.port_repl = ntohs(at.sin_port);
    store_address_of((struct sockaddr *)&at, &config.vip);
    return fd;
}

static void allow(void)
{
    store_address_t *to[] = {&config.peer[0], &config.peer[1], &config.plain[0],
                             &config.plain[1]};
    static const char *const from[] = {"127.0.0.1", "127.0.0.2", "127.0.0.3",
                                       "127.0.0.4"};
    unsigned i;

    for (i = 0; i < 4; i++)
        assert_int_equal(store_address_parse(from[i], to[i]), 0);
    config.n_peers = config.n_plain = 2;
}

int master_open(void **state)
{
    store_space_options_t options;

    (void)state;
    shelf_open(&shelf, 256, 1);
    options = shelf.options;
    options.name = "blog";
    blog = store_space_open(&options);
    assert_non_null(blog);
    config.n_secret = STORE_SECRET_MIN;
    memset(config.secret, 's', STORE_SECRET_MIN);
    master_has_tls = 0;
    allow();
    snprintf(config.open_space, sizeof config.open_space, "shop");
    config.changes = 1 << 20;
    config.slave_timeout = SLAVE_WAIT / 1000;
    notes_clear();
    blog_is_gone = 0;
    listener = listen_at();
    assert_int_equal(store_master_begin(&hooks, listener), 0);
    return 0;
}

int master_close(void **state)
{
    (void)state;
    store_master_end();
    assert_null(on_event);
    close(listener);
    store_space_close(blog);
    shelf_close(&shelf);
    return 0;
}

void master_pump(void)
{
    struct pollfd p = {listener, POLLIN, 0};

    assert_int_equal(poll(&p, 1, SLAVE_WAIT), 1);
    on_event(NULL);
}
