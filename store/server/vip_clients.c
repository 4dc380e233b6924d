/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/vip_clients.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock_ms.h"
#include "store/cluster/relay.h"
#include "store/cluster/role.h"
#include "store/server/accept.h"
#include "store/server/waiting_clients.h"
#include "store/server/main_loop.h"
#include "store/server/shortage.h"
#include "store/server/vip_relay.h"

#define AT_ONCE 64   /* then other events have a turn */
#define KIND    2    /* bytes that show whether it is a relay */
#define TLS     0x16 /* first byte of its handshake */

/* A connection of a peer. It is read by no worker yet. */
typedef struct {
    store_waiting_client_t in_list;
    int fd;
    int need; /* bytes of its first packet that have to be there */
} guest_t;

static const store_cluster_hooks_t *hooks;
static store_waiting_t guests;

/* ---- to a worker ---- */

static void serve(store_space_t *space, int fd)
{
    if (space)
        hooks->serve(space, fd);
    else
        close(fd);
}

/* Without an open space a client has to log in, if there is a secret. */
static void serve_open(int fd)
{
    const char *name = hooks->config->open_space;

    if (name[0])
        serve(hooks->find(name), fd);
    else if (hooks->config->n_secret > 0)
        store_accept_locked(fd, clock_ms());
    else
        close(fd);
}

/* ---- a connection of a peer ---- */

static void remove_guest(guest_t *g)
{
    store_loop_unwatch(g->fd);
    store_waiting_remove(&guests, &g->in_list);
    free(g);
}

/* The next event comes when that many bytes are there, or the end. */
static void ask_for(guest_t *g, int need)
{
    g->need = need;
    setsockopt(g->fd, SOL_SOCKET, SO_RCVLOWAT, &need, sizeof need);
}

/* The packet is complete. Its sender has proven nothing. */
static void begin_relay(guest_t *g)
{
    unsigned char packet[STORE_VIP_PACKET], reply[STORE_PACKET_HEAD];
    int fd = g->fd, size = g->need;
    store_space_t *space = NULL;
    char name[STORE_NAME];

    ask_for(g, 1);
    remove_guest(g);
    if (recv(fd, packet, (size_t)size, MSG_DONTWAIT) == size) {
        store_vip_relay_name(packet, (size_t)size, name);
        if (store_cluster_is_open(hooks->config, name))
            space = hooks->find(name);
        store_vip_relay_reply(packet, space != NULL, reply);
        if (send(fd, reply, sizeof reply, MSG_DONTWAIT | MSG_NOSIGNAL) !=
            (ssize_t)sizeof reply)
            space = NULL;
    }
    serve(space, fd);
}

static void begin_open(guest_t *g)
{
    int fd = g->fd;

    ask_for(g, 1);
    remove_guest(g);
    serve_open(fd);
}

static void begin_secret(guest_t *g)
{
    int fd = g->fd;

    ask_for(g, 1);
    remove_guest(g);
    store_vip_relay_take(hooks, fd);
}

static void end_guest(guest_t *g)
{
    int fd = g->fd;

    remove_guest(g);
    close(fd);
}

/* The packet names a space. With a secret, only TLS may do that. */
static void on_head(guest_t *g, const unsigned char *head)
{
    size_t size = store_vip_relay_size(head);

    if (size == 0 || hooks->config->n_secret > 0)
        end_guest(g);
    else
        ask_for(g, (int)size);
}

/* Bytes stay in the socket until it is known whose they are. */
static void on_guest(void *ctx)
{
    unsigned char packet[STORE_VIP_PACKET];
    guest_t *g = ctx;

    if (recv(g->fd, packet, (size_t)g->need, MSG_PEEK | MSG_DONTWAIT) !=
        g->need)
        end_guest(g);
    else if (g->need > STORE_PACKET_HEAD)
        begin_relay(g);
    else if (g->need == STORE_PACKET_HEAD)
        on_head(g, packet);
    else if (packet[0] == STORE_PACKET_REQUEST &&
             packet[1] == STORE_RELAY_SPACE)
        ask_for(g, STORE_PACKET_HEAD);
    else if (packet[0] == TLS && hooks->config->n_secret > 0)
        begin_secret(g);
    else
        begin_open(g);
}

/* A relay names its space at once. So this is a client, or the rest of a packet
 * does not come. */
static void end_wait(guest_t *g)
{
    if (g->need == KIND)
        begin_open(g);
    else
        end_guest(g);
}

static void end_due(int64_t now)
{
    store_waiting_client_t *due;

    while ((due = store_waiting_due(&guests, now)))
        end_wait((guest_t *)due);
}

static void add_guest(int fd)
{
    guest_t *g = calloc(1, sizeof *g);
    int64_t now = clock_ms();

    if (!g || store_loop_watch(fd, on_guest, g) != 0) {
        free(g);
        close(fd);
        return;
    }
    end_due(now);
    store_waiting_add(&guests, &g->in_list, store_waiting_host(fd), now);
    g->fd = fd;
    ask_for(g, KIND);
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
        add_guest(fd);
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
            store_shortage(listener);
            return;
        }
        store_cluster_set_options(fd);
        take(fd, &from);
    }
}

void store_vip_clients_tick(int64_t now)
{
    end_due(now);
    store_vip_relay_tick(now);
}

void store_vip_clients_begin(const store_cluster_hooks_t *h)
{
    hooks = h;
}

void store_vip_clients_end(void)
{
    while (guests.first)
        end_guest((guest_t *)guests.first);
    store_vip_relay_end();
}
