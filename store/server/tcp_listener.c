/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/tcp_listener.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock_ms.h"
#include "store/cluster/vip.h"
#include "store/memory/region.h"
#include "store/note.h"
#include "store/server/mailbox.h"
#include "store/server/main_loop.h"
#include "store/server/store_listener.h"

/* ---- a socket ---- */

static int set(int fd, int level, int option)
{
    int on = 1;

    return setsockopt(fd, level, option, &on, sizeof on);
}

/* A restart may bind at once, and IPv6 does not take the address of IPv4. */
static int prepare(int fd, sa_family_t family)
{
    if (set(fd, SOL_SOCKET, SO_REUSEADDR) != 0)
        return -1;
    return family == AF_INET6 ? set(fd, IPPROTO_IPV6, IPV6_V6ONLY) : 0;
}

/* Listen at an address of this host. */
static int make(const store_address_t *a, uint16_t port)
{
    struct sockaddr_storage address;
    socklen_t n = store_address_socket(a, port, &address);
    int fd = socket(a->family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
                    IPPROTO_TCP);

    if (fd < 0)
        return -1;
    if (prepare(fd, a->family) == 0 &&
        bind(fd, (const struct sockaddr *)&address, n) == 0 &&
        listen(fd, SOMAXCONN) == 0)
        return fd;
    return store_listener_fail(fd);
}

static uint16_t port_of(const struct sockaddr_storage *address)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;

    memcpy(&v4, address, sizeof v4);
    memcpy(&v6, address, sizeof v6);
    return ntohs(address->ss_family == AF_INET ? v4.sin_port : v6.sin6_port);
}

/* Is this a listener at that address and port? */
static int is_at(int fd, const store_address_t *a, uint16_t port)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    store_address_t bound;

    memset(&address, 0, sizeof address);
    if (!store_listener_is_of(fd, a->family) ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        return 0;
    store_address_of((const struct sockaddr *)&address, &bound);
    return store_address_equal(&bound, a) && port_of(&address) == port;
}

int store_tcp_listener_accept(int fd, store_address_t *peer)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    int client = accept4(fd, (struct sockaddr *)&address, &size,
                         SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (client < 0)
        return -1;
    store_address_of((const struct sockaddr *)&address, peer);
    store_cluster_set_options(client, STORE_LOST);
    return client;
}

/* ---- those of the table ---- */

#define LISTENS (STORE_CONFIG_LISTENS + 1) /* and the virtual address */

static store_config_listen_t vip; /* port 0: there is none */
static store_tcp_listener_t list[LISTENS];
static unsigned n_list;
static void (*on_connection)(void *listener);

void store_tcp_listener_begin(const store_cluster_t *c,
                              void (*on_event)(void *listener))
{
    on_connection = on_event;
    if (c->vip.family == AF_UNSPEC)
        return;
    vip.address = c->vip;
    vip.port = c->port_memcache;
}

int store_tcp_listener_is_vip(const store_tcp_listener_t *l)
{
    return l->config.space[0] == 0;
}

/* Its name in the mailbox. No space has it, because a copy is checked. */
static const char *name_of(const store_config_listen_t *l, char to[STORE_NAME])
{
    char text[STORE_ADDRESS_TEXT];

    snprintf(to, STORE_NAME, "@%.45s %u", store_address_text(&l->address, text),
             l->port);
    return to;
}

static int is_place(const store_config_listen_t *a,
                    const store_config_listen_t *b)
{
    return a->port == b->port && store_address_equal(&a->address, &b->address);
}

static void close_one(store_tcp_listener_t *l)
{
    if (l->fd < 0)
        return;
    store_loop_unwatch(l->fd);
    close(l->fd);
    l->fd = -1;
}

/* The descriptor of the old entry for this place; -1: none. */
static int take_old(store_tcp_listener_t *old, unsigned n,
                    const store_config_listen_t *l)
{
    unsigned i;
    int fd;

    for (i = 0; i < n; i++)
        if (old[i].fd >= 0 && is_place(&old[i].config, l)) {
            fd = old[i].fd;
            store_loop_unwatch(fd);
            old[i].fd = -1;
            return fd;
        }
    return -1;
}

/* Have the event name this entry. */
static int watch(store_tcp_listener_t *l)
{
    if (store_loop_watch(l->fd, on_connection, l) == 0)
        return 0;
    l->fd = store_listener_fail(l->fd);
    return -1;
}

/* @return 1: its listener is lost, and the mailbox still has a copy */
static int add(const store_config_listen_t *config, store_tcp_listener_t *old,
               unsigned n_old)
{
    store_tcp_listener_t *l = &list[n_list++];

    memset(l, 0, sizeof *l);
    l->config = *config;
    l->fd = take_old(old, n_old, config);
    return l->fd >= 0 && watch(l) != 0;
}

int store_tcp_listener_apply(const store_config_t *t)
{
    static store_tcp_listener_t old[LISTENS];
    unsigned i, n = n_list;
    int lost = 0;

    memcpy(old, list, sizeof old);
    n_list = 0;
    if (vip.port != 0)
        lost |= add(&vip, old, n);
    for (i = 0; i < t->n_listens; i++)
        lost |= add(&t->listen[i], old, n);
    for (i = 0; i < n; i++) {
        lost |= old[i].fd >= 0;
        close_one(&old[i]);
    }
    return lost;
}

static store_tcp_listener_t *find(const char *name)
{
    char other[STORE_NAME];
    unsigned i;

    for (i = 0; i < n_list; i++)
        if (strcmp(name_of(&list[i].config, other), name) == 0)
            return &list[i];
    return NULL;
}

void store_tcp_listener_take(const char *name, int fd)
{
    store_tcp_listener_t *l = find(name);

    if (!l || l->fd >= 0 || !is_at(fd, &l->config.address, l->config.port)) {
        close(fd);
        return;
    }
    l->fd = fd;
    watch(l);
}

int store_tcp_listener_stays(const char *name, int fd)
{
    const store_tcp_listener_t *l = find(name);

    return l && l->fd >= 0 && store_listener_is_same(l->fd, fd);
}

/* Why it listens there, for the log. */
static const char *reason(const store_tcp_listener_t *l,
                          char to[STORE_NAME + 32])
{
    if (store_tcp_listener_is_vip(l))
        return "AppStoreVirtualIP";
    snprintf(to, STORE_NAME + 32, "AppStoreListen for space %s",
             l->config.space);
    return to;
}

static void note_failure(store_tcp_listener_t *l)
{
    char why[STORE_NAME + 32], address[STORE_ADDRESS_TEXT];
    const char *error = strerror(errno);

    if (store_note_is_due(&l->failed_at, clock_ms()))
        store_note(STORE_ERROR,
                   "the store cannot listen at %s, port %u (%s): %s; it tries "
                   "again each second",
                   store_address_text(&l->config.address, address),
                   l->config.port, reason(l, why), error);
}

static void note_success(store_tcp_listener_t *l)
{
    char address[STORE_ADDRESS_TEXT];

    if (l->failed_at != 0)
        store_note(STORE_NOTICE, "the store listens at %s, port %u now",
                   store_address_text(&l->config.address, address),
                   l->config.port);
    l->failed_at = 0;
}

static void open_one(store_tcp_listener_t *l)
{
    const store_config_listen_t *c = &l->config;
    char name[STORE_NAME];

    l->fd = store_tcp_listener_is_vip(l)
                ? store_vip_listen(&c->address, c->port)
                : make(&c->address, c->port);
    if (l->fd < 0 || watch(l) != 0) {
        note_failure(l);
        return;
    }
    note_success(l);
    if (store_mailbox_put(name_of(c, name), l->fd) != 0)
        store_note(STORE_WARN,
                   "the listener at %s cannot be kept while no store runs: %s",
                   name + 1, strerror(errno));
}

void store_tcp_listener_open(void)
{
    unsigned i, missing = 0;

    for (i = 0; i < n_list; i++) {
        if (list[i].fd < 0)
            open_one(&list[i]);
        missing += list[i].fd < 0;
    }
    STORE_SET(store_region_figures()->missing_listeners, (uint64_t)missing);
}

void store_tcp_listener_stop(void)
{
    unsigned i;

    for (i = 0; i < n_list; i++)
        close_one(&list[i]);
}
