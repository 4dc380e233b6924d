/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/vip_relay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock_ms.h"
#include "store/cluster/pump.h"
#include "store/cluster/relay.h"
#include "store/server/waiting_clients.h"
#include "store/server/main_loop.h"

typedef struct {
    store_waiting_client_t in_list;
    const store_cluster_hooks_t *hooks;
    store_stream_t *stream;
    int is_secure;
    size_t n;
    unsigned char packet[STORE_VIP_PACKET];
} guest_t;

static store_waiting_t guests;

/* ---- the packet ---- */

size_t store_vip_relay_size(const unsigned char bytes[STORE_PACKET_HEAD])
{
    store_packet_head_t head;
    size_t klen;

    store_packet_head_get(&head, bytes);
    klen = head.key_length;
    return head.magic == STORE_PACKET_REQUEST &&
                   head.opcode == STORE_RELAY_SPACE &&
                   head.extras_length == 0 && klen > 0 && klen < STORE_NAME &&
                   head.body_length == klen
               ? STORE_PACKET_HEAD + klen
               : 0;
}

void store_vip_relay_reply(const unsigned char *packet, int is_known,
                           unsigned char to[STORE_PACKET_HEAD])
{
    store_packet_head_t request,
        head = {.magic = STORE_PACKET_RESPONSE, .opcode = STORE_RELAY_SPACE};

    store_packet_head_get(&request, packet);
    head.status = is_known ? STORE_STATUS_OK : STORE_STATUS_NOT_FOUND;
    head.opaque = request.opaque;
    store_packet_head_put(&head, to);
}

void store_vip_relay_name(const unsigned char *packet, size_t size,
                          char name[STORE_NAME])
{
    memset(name, 0, STORE_NAME);
    memcpy(name, packet + STORE_PACKET_HEAD, size - STORE_PACKET_HEAD);
}

/* ---- one relay ---- */

/* @return its stream, which is the caller's now */
static store_stream_t *remove_guest(guest_t *g)
{
    store_stream_t *stream = g->stream;

    store_loop_unwatch(store_stream_fd(stream));
    store_waiting_remove(&guests, &g->in_list);
    free(g);
    return stream;
}

static void end_guest(guest_t *g)
{
    store_stream_close(remove_guest(g));
}

/* A worker gets one end of a pair, and the pump the other one. */
static void join(guest_t *g, store_space_t *space)
{
    const store_cluster_hooks_t *hooks = g->hooks;
    store_stream_t *stream = remove_guest(g);
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
                   ends) != 0)
        store_stream_close(stream);
    else if (store_pump_join(stream, ends[1]) != 0)
        close(ends[0]);
    else
        hooks->serve(space, ends[0]);
}

static void answer(guest_t *g)
{
    unsigned char reply[STORE_PACKET_HEAD];
    char name[STORE_NAME];
    store_space_t *space;

    store_vip_relay_name(g->packet, g->n, name);
    space = g->hooks->find(name);
    store_vip_relay_reply(g->packet, space != NULL, reply);
    if (store_stream_write(g->stream, reply, sizeof reply) ==
            (ssize_t)sizeof reply &&
        space)
        join(g, space);
    else
        end_guest(g);
}

/* @return bytes that its packet has as far as it is known; 0: it is none */
static size_t wanted(const guest_t *g)
{
    return g->n < STORE_PACKET_HEAD ? STORE_PACKET_HEAD
                                    : store_vip_relay_size(g->packet);
}

/* @return 1: the packet is complete; 0: it is not; -1: it is none */
static int read_packet(guest_t *g)
{
    size_t size;

    while ((size = wanted(g)) > g->n) {
        ssize_t got =
            store_stream_read(g->stream, g->packet + g->n, size - g->n);

        if (got < 0 && errno == EAGAIN)
            return 0;
        if (got <= 0)
            return -1;
        g->n += (size_t)got;
    }
    return size == 0 ? -1 : 1;
}

static void on_guest(void *ctx)
{
    guest_t *g = ctx;
    int rv = 0;

    if (!g->is_secure && store_stream_handshake(g->stream) == 0)
        g->is_secure = 1;
    else if (!g->is_secure)
        rv = errno == EAGAIN ? 0 : -1;
    if (g->is_secure)
        rv = read_packet(g);
    if (rv < 0)
        end_guest(g);
    else if (rv > 0)
        answer(g);
}

void store_vip_relay_take(const store_cluster_hooks_t *hooks, int fd)
{
    const store_cluster_t *config = hooks->config;
    store_stream_t *stream =
        store_stream_make(fd, 1, config->secret, config->n_secret);
    guest_t *g = stream ? calloc(1, sizeof *g) : NULL;
    int64_t now = clock_ms();

    if (!g || store_loop_watch(fd, on_guest, g) != 0) {
        store_stream_close(stream);
        free(g);
        return;
    }
    store_vip_relay_tick(now);
    store_waiting_add(&guests, &g->in_list, store_waiting_host(fd), now);
    g->hooks = hooks;
    g->stream = stream;
}

void store_vip_relay_tick(int64_t now)
{
    store_waiting_client_t *due;

    while ((due = store_waiting_due(&guests, now)))
        end_guest((guest_t *)due);
}

void store_vip_relay_end(void)
{
    while (guests.first)
        end_guest((guest_t *)guests.first);
    store_pump_end();
}
