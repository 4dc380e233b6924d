/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/support/fake_master.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "base/heartbeat.h"
#include "store/cluster/vip.h"
#include "tests/unit/support/notes.h"

#define LIMIT 40000 /* ms */

shelf_t fake_shelf;
store_cluster_t fake_config;

/* ---- what the slave calls ---- */

unsigned fake_beats;
void (*fake_on_beat)(void);

void heartbeat(void)
{
    __atomic_add_fetch(&fake_beats, 1, __ATOMIC_RELAXED);
    if (fake_on_beat)
        fake_on_beat();
}

/* The master of these tests is at this host. */
int __wrap_store_vip_is_here(const store_address_t *);
int __wrap_store_vip_is_here(const store_address_t *address)
{
    (void)address;
    return 0;
}

static store_space_t *find(const char *name)
{
    return strcmp(name, "shop") == 0 ? fake_shelf.space : NULL;
}

static store_space_t *nth(unsigned n)
{
    return n == 0 ? fake_shelf.space : NULL;
}

unsigned fake_generation;

static unsigned generation(void)
{
    return __atomic_load_n(&fake_generation, __ATOMIC_ACQUIRE);
}

const store_cluster_hooks_t fake_hooks = {
    .config = &fake_config, .find = find, .nth = nth, .generation = generation};

int fake_setup(void **state)
{
    (void)state;
    memset(&fake_config, 0, sizeof fake_config);
    memcpy(fake_config.open_space, "shop", 5);
    notes_clear();
    fake_beats = 0;
    fake_wire.is_yrmcds = 0;
    store_item_max = 1 << 20;
    shelf_open(&fake_shelf, 64, 1);
    return 0;
}

int fake_teardown(void **state)
{
    (void)state;
    shelf_check(&fake_shelf);
    shelf_close(&fake_shelf);
    return 0;
}

/* ---- what a master sends ---- */

fake_wire_t fake_wire;

static uint32_t time_of(int64_t lives)
{
    if (lives == 0)
        return 0;
    assert_true(lives > 0 || fake_wire.is_yrmcds);
    return (uint32_t)((fake_wire.is_yrmcds ? time(NULL) : 0) + lives);
}

void fake_put(store_packet_t p, const char *key, const char *value)
{
    p.klen = (uint8_t)strlen(key);
    fake_wire.n +=
        store_wire_put(&p, key, (unsigned char *)fake_wire.bytes + fake_wire.n);
    memcpy(fake_wire.bytes + fake_wire.n, value, p.value);
    fake_wire.n += p.value;
}

void fake_put_hello(const char *list)
{
    fake_put((store_packet_t){.opcode = STORE_WIRE_HELLO,
                              .version = STORE_WIRE_VERSION,
                              .number = (uint64_t)time(NULL),
                              .value = (uint32_t)strlen(list)},
             "", list);
}

void fake_put_space(const char *name, uint64_t cas)
{
    fake_put((store_packet_t){.opcode = STORE_WIRE_SPACE, .number = cas}, name,
             "");
}

void fake_put_flush(const char *name, int64_t delay)
{
    fake_put((store_packet_t){.opcode = STORE_WIRE_SPACE,
                              .number = 1000,
                              .exptime = time_of(delay)},
             name, "");
}

void fake_put_set(const char *key, uint32_t seed, uint32_t length,
                  int64_t lives, uint64_t cas)
{
    fake_put((store_packet_t){.opcode = STORE_WIRE_SET,
                              .flags = seed,
                              .exptime = time_of(lives),
                              .value = length,
                              .cas = cas},
             key, shelf_value(seed, length));
}

void fake_put_delete(const char *key)
{
    fake_put((store_packet_t){.opcode = STORE_WIRE_DELETE}, key, "");
}

void fake_put_touch(const char *key, int64_t lives)
{
    fake_put(
        (store_packet_t){.opcode = STORE_WIRE_TOUCH, .exptime = time_of(lives)},
        key, "");
}

void fake_put_other(uint8_t opcode, uint64_t number)
{
    fake_put((store_packet_t){.opcode = opcode, .number = number}, "", "");
}

void fake_put_begin(void)
{
    fake_wire.n = 0;
    fake_put_hello("shop 4194304\n");
    fake_put_space("shop", 1000);
}

/* A copy and some changes; see fake_expect_copy(). */
void fake_put_copy(void)
{
    fake_put_begin();
    fake_put_set("a", 1, 10, 0, 11);
    fake_put_set("empty", 2, 0, FAKE_HOUR, 12);
    fake_put_set("gone", 3, 20, FAKE_HOUR, 13);
    fake_put_space("blog", 5);
    fake_put_set("a", 9, 30, 0, 4);
    fake_put_space("shop", 1001);
    fake_put_other(STORE_WIRE_COMPLETE, 0);
    fake_put_delete("gone");
    fake_put_set("a", 5, 2000, 0, 15);
}

ssize_t fake_feed(store_apply_t *a, size_t piece)
{
    static char buffer[STORE_APPLY_BUFFER];
    size_t at = 0, n = 0, part, room;
    ssize_t used = 0;
    char *place;

    while (at < fake_wire.n) {
        place = n == 0 ? store_apply_room(a, &room) : NULL;
        if (!place)
            room = sizeof buffer - n;
        part = fake_wire.n - at < piece ? fake_wire.n - at : piece;
        part = part < room ? part : room;
        memcpy(place ? place : buffer + n, fake_wire.bytes + at, part);
        at += part;
        if (place) {
            store_apply_filled(a, part);
            continue;
        }
        n += part;
        used = store_apply_input(a, buffer, n);
        if (used < 0)
            return used;
        n -= (size_t)used;
        memmove(buffer, buffer + used, n);
    }
    return used;
}

static int cas_of(const char *key, uint64_t cas)
{
    store_item_t *item = shelf_take(&fake_shelf, key);
    int is = item && store_cas(item) == cas;

    if (item)
        store_item_release(fake_shelf.space, item);
    return is;
}

void fake_expect_copy(void)
{
    assert_true(shelf_get(&fake_shelf, "a", 5, 2000));
    assert_true(shelf_get(&fake_shelf, "empty", 2, 0));
    assert_false(shelf_get(&fake_shelf, "gone", 3, 20));
    assert_false(shelf_get(&fake_shelf, "own", 8, 8));
    assert_true(cas_of("a", 15));
    assert_true(cas_of("empty", 12));
    assert_true(fake_shelf.space->entry->cas >= 1001);
}

/* ---- its socket ---- */

int fake_listen(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(fd, 5), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    fake_config.vip.family = AF_INET;
    fake_config.vip.u.v4 = address.sin_addr;
    fake_config.port_repl = ntohs(address.sin_port);
    fake_config.slave_timeout = 10;
    return fd;
}

void fake_await(int fd)
{
    struct pollfd p = {fd, POLLIN, 0};

    assert_int_equal(poll(&p, 1, LIMIT), 1);
}

int fake_accept(int listener)
{
    char hello[STORE_WIRE_SMALL_MAX + STORE_WIRE_HELLO_MAX];
    store_packet_t p;
    const char *key;
    int fd;

    fake_await(listener);
    fd = accept(listener, NULL, NULL);
    fake_await(fd);
    assert_true(recv(fd, hello, sizeof hello, 0) > 0);
    assert_true(store_wire_head(hello, sizeof hello, &p, &key) > 0);
    assert_int_equal(p.opcode, STORE_WIRE_HELLO);
    assert_memory_equal(key, "shop 4194304\n", p.value);
    return fd;
}
