/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/support/held.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "store/cluster/confirm.h"
#include "store/memory/changes.h"
#include "store/memory/region.h"

held_t scene;

int come_to(store_served_t *served)
{
    store_connection_t *c;
    int ends[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends),
                     0);
    c = store_connection_make(served, store_stream_make(ends[0], 1, NULL, 0), 0,
                              0);
    assert_non_null(c);
    store_worker_give(&scene.worker, c);
    return ends[1];
}

void say(int fd, const char *words)
{
    assert_int_equal(send(fd, words, strlen(words), MSG_NOSIGNAL),
                     strlen(words));
}

void hear(int fd, const void *words, size_t n)
{
    char got[512];

    assert_true(n <= sizeof got);
    assert_int_equal(recv(fd, got, n, MSG_WAITALL), n);
    assert_memory_equal(got, words, n);
}

/* The worker has served the other client after all that came before. */
void is_held(int fd)
{
    char byte;

    for (int i = 0; i < 3; i++) {
        say(scene.reader, "get nothing\r\n");
        HEAR(scene.reader, "END\r\n");
    }
    assert_int_equal(recv(fd, &byte, 1, MSG_DONTWAIT), -1);
}

void is_over(int fd)
{
    char byte;

    assert_int_equal(recv(fd, &byte, 1, 0), 0);
}

void master_is_new(void)
{
    store_cluster_t config = {.n_peers = 1};

    assert_int_equal(store_address_parse("192.0.2.1", &config.peer[0]), 0);
    store_confirm_begin(&config);
}

void slave_joins(void)
{
    store_address_t a = {.family = AF_INET};

    a.u.v4.s_addr = htonl(0x7f000001);
    store_confirm_joins(0, &a);
}

void slave_confirms(void)
{
    store_confirm_heard(0, store_changes_position());
}

void slave_leaves(void)
{
    store_confirm_leaves(0, 1);
}

uint64_t counted(unsigned what)
{
    const store_counters_t *c = store_region_figures()->worker[0];

    return STORE_GET(c[scene.shelf.space->slot].n[what]);
}

void begin_mode(store_space_confirm_t mode)
{
    memset(&scene, 0, sizeof scene);
    shelf_open(&scene.shelf, 16, 1);
    scene.served.space = scene.gone.space = scene.shelf.space;
    scene.served.space->confirm = (int)mode;
    scene.server = (store_server_t){.max_object = 1 << 20,
                                    .threads = 1,
                                    .max_connections = 8,
                                    .can_confirm = store_confirm_is_possible};
    scene.position = 1;
    store_changes_count_in(&scene.position);
    store_changes_close(); /* they are counted */
    store_confirm_begin(NULL);
    assert_int_equal(store_worker_start(&scene.worker, 0, &scene.server), 0);
    scene.writer = come_to(&scene.served);
    scene.reader = come_to(&scene.served);
}

void end(void)
{
    close(scene.writer);
    close(scene.reader);
    store_worker_stop(&scene.worker);
    store_changes_count_in(NULL);
    shelf_close(&scene.shelf);
}
