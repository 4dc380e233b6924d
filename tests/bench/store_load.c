/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store_load.c
 * @brief Load for a server that speaks memcached's text protocol: some
 *        connections in one thread, each with some commands on the way.
 *
 *     store_load PATH|HOST:PORT [NAME=NUMBER]...
 *
 * It prints one line: what was done, how fast, and how long the replies took.
 * A connection sends `depth` commands at once, and the next ones when all
 * replies have arrived. The time of a reply begins when its batch is sent. Each
 * key has a value of its own length and content, which is compared.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>

#include "tests/bench/store_connect.h"
#include "tests/bench/store_keys.h"
#include "tests/bench/store_redis.h"

#define BUCKETS    1024        /* of times: 16 for each power of two */
#define KEY_FORMAT "key:%012u" /* 16 bytes */

/* The arguments. */
static struct {
    const char *name;
    long value;
} options[] = {
    {"connections", 1},
    {"depth", 1},
    {"gets", 90}, /* of 100 commands; the others are sets */
    {"requests", 100000},
    {"keys", 10000},
    {"shortest", 100}, /* bytes of a value */
    {"longest", 400},
    {"zipf", 0},     /* 1: the nth key is used 1/n as often as the first */
    {"in_order", 0}, /* 1: each key after the other */
    {"refill", 0},   /* 1: a key that is not there is set next */
    {"seed", 1},
    {"redis", 0}, /* n > 0: it is a redis, and each set waits for n replicas */
};
enum {
    CONNECTIONS,
    DEPTH,
    GETS,
    REQUESTS,
    KEYS,
    SHORTEST,
    LONGEST,
    ZIPF,
    IN_ORDER,
    REFILL,
    SEED,
    REDIS,
    N_OPTIONS
};

#define OPTION(name) (options[name].value)

/* A command whose reply is to come. */
typedef struct {
    uint32_t key;
    int is_set;
} command_t;

typedef struct {
    int fd;
    command_t *sent; /* depth */
    long n_sent, n_done;
    uint32_t *missed; /* depth: to be set next, with refill */
    long n_missed;
    char *out, *in;
    size_t out_size, in_used;
    uint64_t began;
} connection_t;

static struct {
    uint64_t times[BUCKETS];
    long begun, done, hits, misses, stored, errors;
} total;

static size_t room; /* bytes of a batch, or of its replies */

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

/* ---- times ---- */

static unsigned bucket_of(uint64_t ns)
{
    unsigned power = 63 - (unsigned)__builtin_clzll(ns | 16);

    return (power - 4) * 16 + (unsigned)(ns >> (power - 4)) % 16;
}

static double bucket_us(unsigned bucket)
{
    return (double)((16 + (uint64_t)bucket % 16) << bucket / 16) / 1000;
}

/* us: this part of the replies took no longer. */
static double quantile(double part)
{
    double rest = part * (double)total.done;
    unsigned i;

    for (i = 0; i < BUCKETS - 1; i++) {
        rest -= (double)total.times[i];
        if (rest <= 0)
            break;
    }
    return bucket_us(i);
}

/* ---- commands ---- */

static void add_get(connection_t *c, uint32_t key)
{
    char *to = c->out + c->out_size, name[32];

    sprintf(name, KEY_FORMAT, key);
    c->out_size += OPTION(REDIS) ? redis_get(to, name)
                                 : (size_t)sprintf(to, "get %s\r\n", name);
    c->sent[c->n_sent++] = (command_t){key, 0};
}

static void add_set(connection_t *c, uint32_t key)
{
    size_t size = keys_length(key);
    char *to = c->out + c->out_size, name[32];

    sprintf(name, KEY_FORMAT, key);
    if (OPTION(REDIS)) {
        c->out_size +=
            redis_set(to, name, keys_value(key), size, (int)OPTION(REDIS));
    }
    else {
        to += sprintf(to, "set %s 0 0 %zu\r\n", name, size);
        memcpy(to, keys_value(key), size);
        memcpy(to + size, "\r\n", 2);
        c->out_size = (size_t)(to - c->out) + size + 2;
    }
    c->sent[c->n_sent++] = (command_t){key, 1};
}

static uint32_t pick(void)
{
    return OPTION(IN_ORDER) ? (uint32_t)(total.begun % OPTION(KEYS))
                            : keys_any();
}

/* The next batch. */
static void begin(connection_t *c)
{
    long misses = c->n_missed;

    c->out_size = c->in_used = 0;
    c->n_sent = c->n_done = c->n_missed = 0;
    while (c->n_sent < OPTION(DEPTH) && total.begun < OPTION(REQUESTS)) {
        if (misses > 0)
            add_set(c, c->missed[--misses]);
        else if ((long)(keys_random() % 100) < OPTION(GETS))
            add_get(c, pick());
        else
            add_set(c, pick());
        total.begun++;
    }
    c->began = now_ns();
}

static void done(connection_t *c, int is_hit)
{
    const command_t *command = &c->sent[c->n_done++];

    total.times[bucket_of(now_ns() - c->began)]++;
    total.done++;
    if (command->is_set) {
        total.stored += is_hit;
        total.errors += !is_hit;
    }
    else if (is_hit) {
        total.hits++;
    }
    else {
        total.misses++;
        if (OPTION(REFILL))
            c->missed[c->n_missed++] = command->key;
    }
}

static int is_value(const connection_t *c, const char *value, size_t n)
{
    uint32_t key = c->sent[c->n_done].key;

    return n == keys_length(key) && memcmp(value, keys_value(key), n) == 0;
}

static size_t reply_of_redis(connection_t *c, const char *in, size_t n)
{
    int is_set = c->sent[c->n_done].is_set, good;
    const char *value;
    size_t length, all = redis_reply(in, n, is_set ? (int)OPTION(REDIS) : 0,
                                     &value, &length, &good);

    if (all == 0)
        return 0;
    total.errors += !good || (value && !is_value(c, value, length));
    done(c, is_set ? good : value != NULL);
    return all;
}

/* A reply at the beginning of these bytes. @return its length, or 0: there is
 * more to come */
static size_t reply(connection_t *c, const char *in, size_t n)
{
    const char *end = memchr(in, '\n', n);
    size_t line, value;

    if (!end)
        return 0;
    line = (size_t)(end - in) + 1;
    if (strncmp(in, "VALUE ", 6) == 0) {
        if (sscanf(in + 6, "%*s %*s %zu", &value) != 1)
            fail(in);
        line += value + 7; /* \r\nEND\r\n */
        if (line > n)
            return 0;
        total.errors += !is_value(c, end + 1, value);
        done(c, 1);
    }
    else {
        if (strncmp(in, "END", 3) != 0 && strncmp(in, "STORED", 6) != 0)
            total.errors++;
        done(c, in[0] == 'S' && in[1] == 'T');
    }
    return line;
}

/* ---- connections ---- */

/* A batch is small. So it fits into the buffers of the socket, and this does
 * not block for long. */
static void send_all(connection_t *c)
{
    size_t at = 0;

    while (at < c->out_size) {
        ssize_t n = send(c->fd, c->out + at, c->out_size - at, MSG_NOSIGNAL);

        if (n < 0)
            fail("send");
        at += (size_t)n;
    }
}

static void receive(connection_t *c)
{
    size_t at = 0, used;
    ssize_t n = recv(c->fd, c->in + c->in_used, room - c->in_used, 0);

    if (n <= 0)
        fail("recv");
    c->in_used += (size_t)n;
    while (c->n_done < c->n_sent &&
           (used = (OPTION(REDIS) ? reply_of_redis
                                  : reply)(c, c->in + at, c->in_used - at)) > 0)
        at += used;
    c->in_used -= at;
    memmove(c->in, c->in + at, c->in_used);
}

/* @return 0: nothing is left to do */
static int next_batch(connection_t *c)
{
    begin(c);
    send_all(c);
    return c->n_sent > 0;
}

static connection_t *open_all(const char *address, int epfd)
{
    connection_t *all = calloc((size_t)OPTION(CONNECTIONS), sizeof *all);
    size_t n = (size_t)OPTION(DEPTH);
    long i;

    room = n * ((size_t)OPTION(LONGEST) + 100);
    for (i = 0; all && i < OPTION(CONNECTIONS); i++) {
        connection_t *c = &all[i];
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};

        c->fd = store_connect(address);
        c->sent = calloc(n, sizeof *c->sent);
        c->missed = calloc(n, sizeof *c->missed);
        c->out = malloc(room);
        c->in = malloc(room);
        if (!c->sent || !c->missed || !c->out || !c->in ||
            epoll_ctl(epfd, EPOLL_CTL_ADD, c->fd, &event) != 0)
            fail("connection");
    }
    if (!all)
        fail("memory");
    return all;
}

/* All requests. @return ns */
static uint64_t play(connection_t *all, int epfd)
{
    struct epoll_event events[64];
    uint64_t started = now_ns();
    long busy = 0, i;

    for (i = 0; i < OPTION(CONNECTIONS); i++)
        busy += next_batch(&all[i]);
    while (busy > 0) {
        int n = epoll_wait(epfd, events, 64, 60000);

        if (n <= 0) {
            fprintf(stderr, "no reply for a minute\n");
            exit(1);
        }
        for (i = 0; i < n; i++) {
            connection_t *c = events[i].data.ptr;

            receive(c);
            if (c->n_done == c->n_sent)
                busy -= !next_batch(c);
        }
    }
    return now_ns() - started;
}

static void read_options(int argc, char **argv)
{
    int i, k;

    for (i = 2; i < argc; i++) {
        const char *equals = strchr(argv[i], '=');

        for (k = 0; k < N_OPTIONS; k++)
            if (equals &&
                strlen(options[k].name) == (size_t)(equals - argv[i]) &&
                strncmp(options[k].name, argv[i], (size_t)(equals - argv[i])) ==
                    0)
                break;
        if (k == N_OPTIONS) {
            fprintf(stderr, "unknown: %s\n", argv[i]);
            exit(2);
        }
        OPTION(k) = atol(equals + 1);
    }
}

int main(int argc, char **argv)
{
    int epfd = epoll_create1(EPOLL_CLOEXEC);
    double seconds;

    if (argc < 2) {
        fprintf(stderr, "usage: store_load PATH|HOST:PORT [NAME=NUMBER]...\n");
        return 2;
    }
    read_options(argc, argv);
    keys_make((uint32_t)OPTION(KEYS), (size_t)OPTION(SHORTEST),
              (size_t)OPTION(LONGEST), OPTION(ZIPF) != 0,
              (uint64_t)OPTION(SEED));
    seconds = (double)play(open_all(argv[1], epfd), epfd) / 1e9;
    printf("done %ld seconds %.3f rate %.0f p50 %.1f p99 %.1f hits %ld misses "
           "%ld stored %ld errors %ld\n",
           total.done, seconds, (double)total.done / seconds, quantile(0.5),
           quantile(0.99), total.hits, total.misses, total.stored,
           total.errors);
    return total.errors > 0;
}
