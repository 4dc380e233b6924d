/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The connections of a worker borrow its buffer and its reply in turns. Each
 * client gets the replies to its own commands, however it sends and reads, with
 * TLS or without, and whoever else leaves meanwhile. */

#include "tests/unit/support/shelf.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "store/memory/region.h"
#include "store/server/worker.h"
#include "tests/unit/support/reader.h"

#define SPACES   2
#define CLIENTS  8
#define COMMANDS 40
#define ROOM     (1 << 20) /* bytes of the commands of a client */
#define WAIT     40000     /* ms */

static const unsigned char secret[] = "the secret of all hosts, 32 bytes";

static const uint32_t lengths[] = {1, 300, 1024, 1025, 9000, 30000};
#define KEYS (sizeof lengths / sizeof *lengths)

typedef struct {
    store_connection_t *c;
    store_stream_t *stream; /* its own end */
    size_t again; /* bytes that it could not send, and sends again; 0: none */
    unsigned space;
    char *commands, *want, *got;
    size_t n_commands, n_sent, n_want, n_got;
} client_t;

static struct {
    shelf_t shelf;
    store_served_t served[SPACES];
    store_server_t server;
    store_bench_t bench;
    client_t client[CLIENTS];
} scene;

static unsigned below(unsigned n)
{
    return (unsigned)rand() % n;
}

/* ---- spaces whose values show where they are from ---- */

static char letter(unsigned space, unsigned key)
{
    return (char)((space == 0 ? 'A' : 'a') + (int)key);
}

static void put(unsigned space, unsigned key)
{
    store_space_t *in = scene.served[space].space;
    char name[2] = {(char)('0' + (int)key), '\0'};
    store_item_t *item = store_item_make(in, name, 1, 0, 0, lengths[key]);
    store_bucket_t bucket;

    assert_non_null(item);
    for (uint32_t at = 0, n; at < lengths[key]; at += n) {
        char *bytes = store_item_bytes(in, item, at, &n);

        memset(bytes, letter(space, key), n);
    }
    store_index_lock(&bucket, in, name, 1);
    store_index_put(&bucket, item, NULL, 0);
    store_index_unlock(&bucket);
    store_item_release(in, item);
}

static void open_scene(void)
{
    static const store_space_options_t other = {
        .name = "bank", .size = 16 * STORE_PAGE, .evict = 1};

    memset(&scene, 0, sizeof scene);
    shelf_open(&scene.shelf, 16, 1);
    scene.served[0].space = scene.shelf.space;
    scene.served[1].space = store_space_open(&other);
    assert_non_null(scene.served[1].space);
    for (unsigned space = 0; space < SPACES; space++)
        for (unsigned key = 0; key < KEYS; key++)
            put(space, key);
    scene.server = (store_server_t){
        .max_object = 1 << 20, .threads = 1, .max_connections = CLIENTS};
    scene.bench.epoll = epoll_create1(EPOLL_CLOEXEC);
    scene.bench.buffer = malloc(STORE_TURN_BYTES);
    scene.bench.counters = store_region_figures()->worker[0];
    assert_true(scene.bench.epoll >= 0 && scene.bench.buffer);
}

/* Replies that were kept are used again, so there are no more of them than were
 * kept at once. */
static void look_at_spares(void)
{
    assert_true(scene.bench.n_spare <= CLIENTS);
    for (unsigned i = 0; i < scene.bench.n_spare; i++)
        assert_int_equal(store_reply_pending(scene.bench.spare[i]), 0);
}

static void close_scene(void)
{
    reader_takes(SIZE_MAX);
    look_at_spares();
    store_bench_end(&scene.bench);
    free(scene.bench.buffer);
    close(scene.bench.epoll);
    store_space_close(scene.served[1].space);
    shelf_close(&scene.shelf);
}

/* ---- clients ---- */

/* One more command, and its reply. */
static void add_command(client_t *c)
{
    unsigned key = below(KEYS);
    char *want = c->want + c->n_want;

    c->n_commands +=
        (size_t)sprintf(c->commands + c->n_commands, "get %u x\r\n", key);
    want += sprintf(want, "VALUE %u 0 %u\r\n", key, lengths[key]);
    memset(want, letter(c->space, key), lengths[key]);
    want += lengths[key];
    want += sprintf(want, "\r\nEND\r\n");
    c->n_want = (size_t)(want - c->want);
}

/* @return the end of the worker */
static store_stream_t *make_ends(client_t *c, const int ends[2], bool is_tls)
{
    const unsigned char *with = is_tls ? secret : NULL;
    store_stream_t *end = store_stream_make(ends[0], 1, with, 32);

    c->stream = store_stream_make(ends[1], 0, with, 32);
    assert_true(end && c->stream);
    return end;
}

static void prepare(client_t *c, unsigned space)
{
    *c = (client_t){.space = space,
                    .commands = malloc(ROOM),
                    .want = malloc(2 * ROOM),
                    .got = malloc(2 * ROOM)};
    assert_true(c->commands && c->want && c->got);
    for (unsigned i = 0; i < COMMANDS; i++)
        add_command(c);
}

static void come(client_t *c, unsigned space)
{
    int ends[2];

    prepare(c, space);
    assert_int_equal(socketpair(AF_UNIX,
                                SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
                                ends),
                     0);
    c->c = store_connection_make(&scene.served[space],
                                 make_ends(c, ends, space % 2), 0, 0);
    assert_non_null(c->c);
    assert_int_equal(store_connection_begin(c->c, &scene.bench, &scene.server),
                     0);
}

static void leave(client_t *c)
{
    store_stream_close(c->stream);
    if (c->c)
        store_connection_free(c->c);
    free(c->commands);
    free(c->want);
    free(c->got);
}

static bool has_all(const client_t *c)
{
    return c->n_got == c->n_want;
}

static void say(client_t *c)
{
    size_t n = c->again ? c->again : 1 + below(100),
           left = c->n_commands - c->n_sent;
    ssize_t sent;

    if (left == 0)
        return;
    n = n < left ? n : left;
    sent = store_stream_write(c->stream, c->commands + c->n_sent, n);
    c->again = sent < 0 ? n : 0;
    if (sent > 0)
        c->n_sent += (size_t)sent;
}

static void hear(client_t *c)
{
    ssize_t n =
        store_stream_read(c->stream, c->got + c->n_got, 2 * ROOM - c->n_got);

    if (n > 0)
        c->n_got += (size_t)n;
    assert_true(c->n_got <= c->n_want);
    assert_memory_equal(c->got, c->want, c->n_got);
}

/* One turn. The client sends something, and reads something. */
static void turn(client_t *c)
{
    say(c);
    store_connection_event(c->c, EPOLLIN);
    reader_takes(below(3) ? below(20000) : SIZE_MAX);
    assert_int_not_equal(store_connection_turn(c->c, &scene.bench),
                         STORE_TURN_OVER);
    if (below(2))
        hear(c);
}

static bool is_over(void)
{
    for (unsigned i = 0; i < CLIENTS; i++)
        if (!has_all(&scene.client[i]))
            return false;
    return true;
}

static void each_client_gets_its_own_replies(void **state)
{
    unsigned leavers = 20;

    (void)state;
    srand(1);
    open_scene();
    for (unsigned i = 0; i < CLIENTS; i++)
        come(&scene.client[i], i % SPACES);
    while (!is_over()) {
        client_t *c = &scene.client[below(CLIENTS)];

        if (leavers > 0 && below(50) == 0) {
            leavers--;
            leave(c);
            come(c, below(SPACES));
        }
        turn(c);
    }
    for (unsigned i = 0; i < CLIENTS; i++)
        leave(&scene.client[i]);
    close_scene();
}

/* It sends commands for a megabyte, and takes no reply. What the store keeps for
 * it is memory that no limit counts. */
static void a_client_that_does_not_read_is_cheap(void **state)
{
    static const char get[] = "get 1 x\r\n";
    client_t *c = &scene.client[0];
    store_turn_t next;
    unsigned i;

    (void)state;
    open_scene();
    come(c, 0);
    for (i = 0; i < ROOM; i++)
        c->commands[i] = get[i % (sizeof get - 1)];
    c->n_commands = ROOM;
    reader_takes(0);
    do {
        ssize_t n = store_stream_write(c->stream, c->commands + c->n_sent,
                                       c->n_commands - c->n_sent);

        c->n_sent += n > 0 ? (size_t)n : 0;
        store_connection_event(c->c, EPOLLIN);
        next = store_connection_turn(c->c, &scene.bench);
        assert_int_not_equal(next, STORE_TURN_OVER);
    } while (next == STORE_TURN_MORE);
    assert_non_null(c->c->reply);
    assert_in_range(c->c->n_rest, 1, 20 * 1024);
    assert_in_range(store_reply_pending(c->c->reply), 1, 60 * 1024);
    leave(c);
    close_scene();
}

/* ---- with a worker ---- */

/* The replies of a client are more than these sockets take. So the worker also
 * has to go on when the client has read. */
static void connect_by_tcp(int ends[2])
{
    static const int small = 8 * 1024;
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    setsockopt(listener, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    assert_int_equal(bind(listener, (struct sockaddr *)&at, size), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &size), 0);
    ends[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(ends[1], SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    assert_int_equal(connect(ends[1], (struct sockaddr *)&at, size), 0);
    ends[0] = accept(listener, NULL, NULL);
    assert_true(ends[0] >= 0);
    close(listener);
}

static void come_to_worker(client_t *c, store_worker_t *w, bool is_tls)
{
    int ends[2];

    prepare(c, 0);
    connect_by_tcp(ends);
    store_worker_give(w,
                      store_connection_make(&scene.served[0],
                                            make_ends(c, ends, is_tls), 0, 0));
}

/* Some of them send all commands before they read. */
static void talk_to_worker(client_t *c, bool is_greedy)
{
    while (!has_all(c)) {
        struct pollfd p = {store_stream_fd(c->stream), POLLIN, 0};
        size_t before = c->n_got;

        say(c);
        if (is_greedy && c->n_sent < c->n_commands && !c->again)
            continue;
        hear(c);
        if (c->n_sent < c->n_commands)
            p.events |= POLLOUT;
        if (c->n_got == before)
            assert_int_equal(poll(&p, 1, WAIT), 1);
    }
}

static bool has_ended(client_t *c)
{
    struct pollfd p = {store_stream_fd(c->stream), POLLIN, 0};
    char byte;
    ssize_t n;

    while ((n = store_stream_read(c->stream, &byte, 1)) < 0 && errno == EAGAIN)
        assert_int_equal(poll(&p, 1, WAIT), 1);
    return n == 0;
}

/* The events are those of the kernel. What TLS has read is no event. */
static void a_worker_serves_each_kind_of_client(void **state)
{
    store_worker_t worker = {0};
    client_t *c = scene.client;

    (void)state;
    srand(2);
    open_scene();
    reader_takes(SIZE_MAX);
    assert_int_equal(store_worker_start(&worker, 0, &scene.server), 0);
    for (unsigned i = 0; i < CLIENTS; i++)
        come_to_worker(&c[i], &worker, i % 2);
    for (unsigned i = 0; i < CLIENTS; i++)
        talk_to_worker(&c[i], i < CLIENTS / 2);
    for (unsigned i = 0; i < CLIENTS; i++) {
        assert_int_equal(shutdown(store_stream_fd(c[i].stream), SHUT_WR), 0);
        assert_true(has_ended(&c[i]));
        leave(&c[i]);
    }
    store_worker_stop(&worker);
    close_scene();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_client_gets_its_own_replies),
        cmocka_unit_test(a_client_that_does_not_read_is_cheap),
        cmocka_unit_test(a_worker_serves_each_kind_of_client),
    };

    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
