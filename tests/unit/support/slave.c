/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/support/slave.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "store/clock.h"
#include "store/memory/changes.h"

static store_packet_t hello = {.opcode = STORE_WIRE_HELLO,
                               .version = STORE_WIRE_VERSION};

/* ---- the connection ---- */

int slave_socket(const char *from)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), small = 256 * 1024;
    struct sockaddr_storage to;
    socklen_t size;
    store_address_t address;

    assert_int_equal(store_address_parse(from, &address), 0);
    size = store_address_socket(&address, 0, &to);
    /* So that a slave which reads nothing is noticed soon. */
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    assert_int_equal(bind(fd, (struct sockaddr *)&to, size), 0);
    size = store_address_socket(&config.vip, config.port_repl, &to);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, size), 0);
    return fd;
}

static slave_t *make(const char *from)
{
    slave_t *s = calloc(1, sizeof *s);

    s->fd = slave_socket(from);
    s->stream = store_stream_make(s->fd, 0, NULL, 0);
    assert_non_null(s->stream);
    return s;
}

slave_t *slave_connect(const char *from)
{
    slave_t *s = make(from);

    master_pump();
    return s;
}

/* The master waits for the first byte for 2 s only. */
slave_t *slave_begin(const char *from, const void *bytes, size_t n)
{
    slave_t *s = make(from);

    slave_say(s, bytes, n);
    master_pump();
    return s;
}

void slave_say(slave_t *s, const void *bytes, size_t n)
{
    assert_int_equal(store_stream_write_all(s->stream, bytes, n, SLAVE_WAIT),
                     0);
}

slave_t *slave_join(const char *from, int ours)
{
    static const char spaces[] = "shop 16777216\nblog 16777216\n";
    unsigned char bytes[STORE_WIRE_SMALL_MAX + sizeof spaces];
    size_t n;

    if (!ours)
        return slave_begin(from, "", 1);
    hello.number = (uint64_t)time(NULL);
    hello.value = sizeof spaces - 1;
    n = store_wire_put(&hello, "", bytes);
    memcpy(bytes + n, spaces, sizeof spaces - 1);
    return slave_begin(from, bytes, n + sizeof spaces - 1);
}

void slave_close(slave_t *s)
{
    while (s->n > 0)
        free(s->items[--s->n].value);
    free(s->items);
    store_stream_close(s->stream);
    free(s);
}

/* ---- what it gets ---- */

slave_item_t *slave_find(slave_t *s, const char *space, const char *key)
{
    unsigned i;

    for (i = 0; i < s->n; i++)
        if (strcmp(s->items[i].key, key) == 0 &&
            strcmp(s->items[i].space, space) == 0)
            return &s->items[i];
    return NULL;
}

static void remove_item(slave_t *s, slave_item_t *item)
{
    if (!item)
        return;
    free(item->value);
    *item = s->items[--s->n];
}

static slave_item_t *add_item(slave_t *s, const char *key)
{
    slave_item_t *item;

    if (s->n == s->room) {
        s->room = s->room ? 2 * s->room : 64;
        s->items = realloc(s->items, s->room * sizeof *s->items);
    }
    item = &s->items[s->n++];
    memset(item, 0, sizeof *item);
    memcpy(item->space, s->space, sizeof item->space);
    snprintf(item->key, sizeof item->key, "%s", key);
    return item;
}

/* On the clock of the store. */
static uint32_t time_here(const slave_t *s, uint32_t exptime)
{
    if (exptime == 0)
        return 0;
    return s->packets[STORE_WIRE_HELLO] > 0 ? store_clock() + exptime
                                            : store_clock_from_host(exptime);
}

static void apply_set(slave_t *s, const store_packet_t *p, const char *key,
                      const char *value)
{
    slave_item_t *item = slave_find(s, s->space, key);

    remove_item(s, item);
    item = add_item(s, key);
    item->p = *p;
    item->p.exptime = time_here(s, p->exptime);
    item->value = malloc(p->value + 1);
    memcpy(item->value, value, p->value);
}

static void apply_flush(slave_t *s, uint64_t cas)
{
    unsigned i;

    for (i = s->n; i-- > 0;)
        if (strcmp(s->items[i].space, s->space) == 0 &&
            s->items[i].p.cas <= cas)
            remove_item(s, &s->items[i]);
}

static void apply(slave_t *s, const store_packet_t *p, const char *bytes)
{
    char key[STORE_KEY_MAX + 1] = "";
    slave_item_t *item;

    memcpy(key, bytes, p->klen);
    item = slave_find(s, s->space, key);
    s->packets[p->opcode]++;
    s->last[p->opcode] = *p;
    switch (p->opcode) {
    case STORE_WIRE_SPACE:
        assert_true((size_t)snprintf(s->space, sizeof s->space, "%s", key) <
                    sizeof s->space);
        break;
    case STORE_WIRE_SET:
        apply_set(s, p, key, bytes + p->klen);
        break;
    case STORE_WIRE_DELETE:
        remove_item(s, item);
        break;
    case STORE_WIRE_TOUCH:
        if (item)
            item->p.exptime = time_here(s, p->exptime);
        break;
    case STORE_WIRE_FLUSHED:
        apply_flush(s, p->number);
        break;
    default:
        break;
    }
}

/* @return 1: a packet was taken */
static int take_packet(slave_t *s)
{
    store_packet_t p;
    const char *key;
    int head = store_wire_head(s->bytes_left, s->n_left, &p, &key);
    size_t size = (size_t)head + p.value;

    assert_true(head >= 0);
    if (head == 0 || s->n_left < size)
        return 0;
    apply(s, &p, key);
    s->n_left -= size;
    memmove(s->bytes_left, s->bytes_left + size, s->n_left);
    return 1;
}

/* @return 0: the connection was closed */
static int read_some(slave_t *s)
{
    struct pollfd p = {s->fd, POLLIN, 0};
    ssize_t n;

    while ((n = store_stream_read(s->stream, s->bytes_left + s->n_left,
                                  sizeof s->bytes_left - s->n_left)) < 0) {
        if (errno != EAGAIN)
            return 0;
        assert_int_equal(poll(&p, 1, SLAVE_WAIT), 1);
    }
    s->n_left += (size_t)n;
    s->bytes += (uint64_t)n;
    return n > 0;
}

int slave_read(slave_t *s, uint8_t opcode, unsigned packets)
{
    while (s->packets[opcode] < packets)
        if (!take_packet(s) && !read_some(s))
            return 0;
    return 1;
}

void slave_read_to_end(slave_t *s)
{
    do
        while (take_packet(s))
            ;
    while (read_some(s));
}

/* The list has an order: what comes after this key is newer. */
void slave_catch_up(slave_t *s)
{
    static unsigned number;
    char key[32];
    int left = 1;

    snprintf(key, sizeof key, "caught-up-%u", number++);
    shelf_set(&shelf, key, 1, 1, 0);
    store_changes_ring();
    while (left && !slave_find(s, s->space[0] ? "shop" : "", key))
        left = take_packet(s) || read_some(s);
    assert_true(left);
}

/* ---- comparison ---- */

typedef struct {
    slave_t *slave;
    store_space_t *space;
    const char *name;
    unsigned n;
} comparison_t;

static void compare(void *ctx, const store_item_t *item)
{
    comparison_t *c = ctx;
    char key[STORE_KEY_MAX + 1] = "", *value = malloc(item->length + 1);
    slave_item_t *got;
    int64_t expires = item->exptime;

    memcpy(key, store_item_key(item), item->klen);
    got = slave_find(c->slave, c->name, key);
    assert_non_null(got);
    assert_int_equal(got->p.value, item->length);
    store_item_read(c->space, item, 0, value, item->length);
    assert_memory_equal(got->value, value, item->length);
    free(value);
    assert_int_equal(got->p.flags, item->flags);
    assert_true(got->p.cas == item->cas);
    assert_int_equal(got->p.exptime == 0, item->exptime == 0);
    if (expires)
        assert_in_range(got->p.exptime, expires - 2,
                        expires + SLAVE_WAIT / 1000);
    c->n++;
}

void slave_is_same(slave_t *s, store_space_t *space)
{
    comparison_t c = {s, space, s->packets[STORE_WIRE_HELLO] ? space->name : "",
                      0};
    unsigned i, n = 0;
    uint32_t bucket = 0;

    while (store_index_walk(space, &bucket, 1000, compare, &c))
        ;
    for (i = 0; i < s->n; i++)
        n += strcmp(s->items[i].space, c.name) == 0;
    assert_int_equal(n, c.n);
}
