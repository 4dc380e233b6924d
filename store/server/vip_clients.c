/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/vip_clients.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock_ms.h"
#include "store/cluster/relay_packet.h"
#include "store/cluster/role.h"
#include "store/cluster/stream.h"
#include "store/server/accept.h"
#include "store/server/waiting_clients.h"
#include "store/server/main_loop.h"

#define AT_ONCE 64   /* then other events have a turn */
#define KIND    2    /* bytes that show whether it is a relay */
#define TLS     0x16 /* first byte of its handshake */
/* A connection of a peer. No worker has it yet. */
typedef struct {
    store_waiting_client_t in_list;
    int fd;
    store_stream_t *stream; /* of a relay; NULL: it has not shown what it is */
    size_t n;               /* bytes of the first packet of a relay */
    unsigned char packet[STORE_RELAY_PACKET];
} peer_client_t;

static const store_cluster_hooks_t *hooks;
static store_waiting_t unknown, relays;

/* ---- to a worker ---- */

static void serve(store_space_t *space, store_stream_t *stream)
{
    if (space)
        hooks->serve(space, stream);
    else
        store_stream_close(stream);
}

/* Without an open space a client has to log in, if there is a secret. */
static void serve_open(int fd)
{
    store_stream_t *stream = store_stream_make(fd, 1, NULL, 0);
    const char *name = hooks->config->open_space;

    if (!stream)
        return;
    if (name[0] || hooks->config->n_secret == 0)
        serve(name[0] ? hooks->find(name) : NULL, stream);
    else
        store_accept_locked(stream, clock_ms());
}

/* ---- lists of peers ---- */

static void remove_client(peer_client_t *g)
{
    store_loop_unwatch(g->fd);
    store_waiting_remove(g->stream ? &relays : &unknown, &g->in_list);
    free(g);
}

/* @param stream NULL: it has not shown what it is
 * @return NULL: no memory; the descriptor is the caller's */
static peer_client_t *add_client(int fd, store_stream_t *stream,
                                 void (*on_client)(void *ctx))
{
    peer_client_t *g = calloc(1, sizeof *g);
    int64_t now = clock_ms();

    if (!g || store_loop_watch(fd, on_client, g) != 0) {
        free(g);
        return NULL;
    }
    store_vip_clients_tick(now);
    g->fd = fd;
    g->stream = stream;
    store_waiting_add(stream ? &relays : &unknown, &g->in_list,
                      store_waiting_host(fd), now);
    return g;
}

/* ---- a relay ---- */

static void end_relay(peer_client_t *g)
{
    store_stream_t *stream = g->stream;

    remove_client(g);
    store_stream_close(stream);
}

/* One that speaks TLS has proven that it knows the secret. One that does not
 * has proven nothing. */
static store_space_t *find(const char *name)
{
    return hooks->config->n_secret > 0 ||
                   store_cluster_is_open(hooks->config, name)
               ? hooks->find(name)
               : NULL;
}

static void answer(peer_client_t *g)
{
    unsigned char reply[STORE_PACKET_HEAD];
    store_stream_t *stream = g->stream;
    char name[STORE_NAME];
    store_space_t *space;

    store_relay_packet_name(g->packet, g->n, name);
    space = find(name);
    store_relay_packet_reply(g->packet, space != NULL, reply);
    remove_client(g);
    if (store_stream_write(stream, reply, sizeof reply) !=
        (ssize_t)sizeof reply)
        space = NULL;
    serve(space, stream);
}

/* @return bytes that its packet has as far as it is known; 0: it is none */
static size_t wanted(const peer_client_t *g)
{
    return g->n < STORE_PACKET_HEAD ? STORE_PACKET_HEAD
                                    : store_relay_packet_size(g->packet);
}

/* Not one byte more than the packet: what follows is for the worker.
 * @return 1: it is complete; 0: it is not; -1: it is none */
static int read_packet(peer_client_t *g)
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

static void on_relay(void *ctx)
{
    peer_client_t *g = ctx;
    int rv = read_packet(g);

    if (rv < 0)
        end_relay(g);
    else if (rv > 0)
        answer(g);
}

static void begin_relay(int fd)
{
    const store_cluster_t *config = hooks->config;
    store_stream_t *stream = store_stream_make(
        fd, 1, config->n_secret > 0 ? config->secret : NULL, config->n_secret);

    if (stream && !add_client(fd, stream, on_relay))
        store_stream_close(stream);
}

/* ---- one that has not shown what it is ---- */

/* The next event comes when that many bytes are there, or the end. */
static void ask_for(int fd, int need)
{
    setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &need, sizeof need);
}

/* @return its descriptor */
static int take_unknown(peer_client_t *g)
{
    int fd = g->fd;

    ask_for(fd, 1);
    remove_client(g);
    return fd;
}

/* Bytes stay in the socket until it is known whose they are. With a secret,
 * only TLS may name a space. */
static void on_unknown(void *ctx)
{
    int has_secret = hooks->config->n_secret > 0;
    unsigned char bytes[KIND];
    peer_client_t *g = ctx;
    int fd = g->fd, names_space;

    if (recv(fd, bytes, KIND, MSG_PEEK | MSG_DONTWAIT) != KIND) {
        close(take_unknown(g));
        return;
    }
    take_unknown(g);
    names_space =
        bytes[0] == STORE_PACKET_REQUEST && bytes[1] == STORE_RELAY_SPACE;
    if (has_secret ? bytes[0] == TLS : names_space)
        begin_relay(fd);
    else if (names_space)
        close(fd);
    else
        serve_open(fd);
}

static void begin_unknown(int fd)
{
    if (add_client(fd, NULL, on_unknown))
        ask_for(fd, KIND);
    else
        close(fd);
}

/* ---- listeners ---- */

static int is_peer(const struct sockaddr_storage *from)
{
    const store_cluster_t *config = hooks->config;
    store_address_t address;

    store_address_of((const struct sockaddr *)from, &address);
    return store_address_is_in(config->peer, config->n_peers, &address);
}

static void take(int fd, const struct sockaddr_storage *from)
{
    if (store_role() != STORE_MASTER)
        close(fd);
    else if (is_peer(from))
        begin_unknown(fd);
    else
        serve_open(fd);
}

/* Somebody has reached the address, so it is here. Netlink may say it later. */
void store_vip_clients_accept(int listener)
{
    struct sockaddr_storage from;
    socklen_t size;
    int i, fd;

    if (store_role() == STORE_SLAVE)
        store_role_tick(clock_ms());
    for (i = 0; i < AT_ONCE && !store_role_is_over(); i++) {
        size = sizeof from;
        fd = accept4(listener, (struct sockaddr *)&from, &size,
                     SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            store_loop_shortage(listener);
            return;
        }
        store_cluster_set_options(fd, STORE_LOST);
        take(fd, &from);
    }
}

/* A relay names its space at once. So one that has said nothing is a client,
 * and the rest of a packet does not come. */
void store_vip_clients_tick(int64_t now)
{
    store_waiting_client_t *due;

    while ((due = store_waiting_due(&unknown, now)))
        serve_open(take_unknown((peer_client_t *)due));
    while ((due = store_waiting_due(&relays, now)))
        end_relay((peer_client_t *)due);
}

void store_vip_clients_begin(const store_cluster_hooks_t *h)
{
    hooks = h;
}

void store_vip_clients_end(void)
{
    while (unknown.first)
        close(take_unknown((peer_client_t *)unknown.first));
    while (relays.first)
        end_relay((peer_client_t *)relays.first);
}
