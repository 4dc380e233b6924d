/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What another host may send before it is known: a slave's hello and its
 * heartbeats, a master's reply to a relay, the first packet of a relay.
 *
 * Input: a byte that says which, and the bytes that are sent. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock_ms.h"
#include "store/cluster/hello.h"
#include "store/cluster/slave_link.h"
#include "store/cluster/relay_master.h"
#include "store/cluster/relay_packet.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/support/notes.h"

#define TURNS  20
#define SECRET 32

static void must(int truth)
{
    if (!truth)
        abort();
}

/* The other end has sent all that it will. @param there gets its socket */
static store_stream_t *stream_of(const uint8_t *data, size_t size,
                                 const unsigned char *secret, int *there)
{
    store_stream_t *stream;
    int ends[2];

    must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    must(size == 0 || send(ends[1], data, size, 0) == (ssize_t)size);
    shutdown(ends[1], SHUT_WR);
    stream = store_stream_make(ends[0], 1, secret, secret ? SECRET : 0);
    must(stream != NULL);
    *there = ends[1];
    return stream;
}

/* ---- a slave ---- */

#define MARKED 1000

static void confirm(unsigned slot, uint64_t position)
{
    must(slot == 0 && position <= MARKED);
}

static void hear_heartbeats(store_stream_t *stream, int ours)
{
    store_slave_link_t out;
    int i, rv = 0;

    must(store_slave_link_open(&out, stream, 10) == 0);
    out.marked = MARKED;
    out.confirmed = ours ? confirm : NULL;
    for (i = 0; i < TURNS && rv == 0; i++)
        rv = store_slave_link_wait(&out, -1, 0);
    must(rv == -1 && out.why != NULL);
    store_slave_link_close(&out);
}

/* With TLS nobody gets beyond the handshake. */
static void greet(const uint8_t *data, size_t size, int has_secret, int has_tls)
{
    static const unsigned char secret[SECRET] = "0123456789abcdef";
    static const char *const names[] = {"shop", "blog", "a b", "", "sh"};
    static store_space_figures_t figures = {.size = 1 << 20};
    static store_space_t space = {.name = "shop", .figures = &figures};
    store_space_t *shop = &space;
    static store_greeting_t greeting;
    const char *why = NULL;
    int there, rv;
    store_stream_t *stream =
        stream_of(data, size, has_tls ? secret : NULL, &there);
    unsigned i;

    rv = store_greeting_take(stream, has_secret, 10, &greeting, &why);
    must((rv == 0 && !has_tls) || (rv == -1 && why != NULL));
    must(memchr(greeting.spaces, '\0', sizeof greeting.spaces) != NULL);
    for (i = 0; i < sizeof names / sizeof *names; i++)
        store_greeting_size(&greeting, names[i]);
    if (rv == 0) {
        store_greeting_compare(&greeting, &shop, 1, "10.0.0.1");
        notes_clear();
        hear_heartbeats(stream, greeting.ours);
    }
    store_stream_close(stream);
    close(there);
}

/* ---- a master, to which a client is relayed ---- */

static void reply(const uint8_t *data, size_t size, int is_plain)
{
    static store_cluster_t config = {.open_space = "shop"};
    store_relay_master_t m = {.stage = STORE_RELAY_SECURING,
                              .is_plain = is_plain};
    store_space_t space = {.name = "shop"};
    store_relay_stage_t stage = m.stage;
    int there, i;

    store_relay_master_begin(&config, -1);
    m.stream = stream_of(data, size, NULL, &there);
    m.fd = store_stream_fd(m.stream);
    for (i = 0; i < TURNS &&
                (stage == STORE_RELAY_SECURING || stage == STORE_RELAY_NAMING);
         i++)
        stage = store_relay_master_turn(&m, &space, NULL, clock_ms());
    must(i < TURNS);
    store_relay_master_close(&m);
    must(m.stage == STORE_RELAY_NONE);
    close(there);
}

/* ---- a relay ---- */

static void name_space(const uint8_t *data, size_t size)
{
    unsigned char answer[STORE_PACKET_HEAD], *packet;
    char name[STORE_NAME];
    size_t wanted;

    if (size < STORE_PACKET_HEAD)
        return;
    wanted = store_relay_packet_size(data);
    must(wanted <= STORE_RELAY_PACKET);
    if (wanted == 0 || size < wanted)
        return;
    packet = malloc(wanted); /* so that a sanitizer sees its end */
    must(packet != NULL);
    memcpy(packet, data, wanted);
    store_relay_packet_name(packet, wanted, name);
    must(memchr(name, '\0', sizeof name) != NULL);
    store_relay_packet_reply(packet, 1, answer);
    free(packet);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    switch (data[0] % 3) {
    case 0:
        greet(data + 1, size - 1, data[0] & 4, data[0] & 8);
        break;
    case 1:
        reply(data + 1, size - 1, data[0] & 4);
        break;
    default:
        name_space(data + 1, size - 1);
    }
    return 0;
}
