/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/tcp_served.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "store/note.h"
#include "store/server/listener.h"
#include "store/server/loop.h"
#include "store/server/mailbox.h"
#include "store/server/tcp_listener.h"

static store_tcp_served_t list[STORE_CONFIG_LISTENS];
static unsigned n_list;
static void (*on_connection)(void *listener);

void store_tcp_served_begin(void (*on_event)(void *listener))
{
    on_connection = on_event;
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

static void close_one(store_tcp_served_t *l)
{
    if (l->fd < 0)
        return;
    store_loop_unwatch(l->fd);
    close(l->fd);
    l->fd = -1;
}

/* The descriptor of the old entry for this place; -1: none. */
static int take_old(store_tcp_served_t *old, unsigned n,
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
static int watch(store_tcp_served_t *l)
{
    if (store_loop_watch(l->fd, on_connection, l) == 0)
        return 0;
    close(l->fd);
    l->fd = -1;
    return -1;
}

int store_tcp_served_apply(const store_config_t *t)
{
    static store_tcp_served_t old[STORE_CONFIG_LISTENS];
    unsigned i, n = n_list;
    int lost = 0;

    memcpy(old, list, sizeof old);
    n_list = t->n_listens;
    for (i = 0; i < n_list; i++) {
        list[i].config = t->listen[i];
        list[i].fd = take_old(old, n, &t->listen[i]);
        if (list[i].fd >= 0)
            watch(&list[i]);
    }
    for (i = 0; i < n; i++) {
        lost |= old[i].fd >= 0;
        close_one(&old[i]);
    }
    return lost;
}

static store_tcp_served_t *find(const char *name)
{
    char other[STORE_NAME];
    unsigned i;

    for (i = 0; i < n_list; i++)
        if (strcmp(name_of(&list[i].config, other), name) == 0)
            return &list[i];
    return NULL;
}

void store_tcp_served_take(const char *name, int fd)
{
    store_tcp_served_t *l = find(name);

    if (!l || l->fd >= 0 ||
        !store_tcp_listener_is(fd, &l->config.address, l->config.port)) {
        close(fd);
        return;
    }
    l->fd = fd;
    watch(l);
}

int store_tcp_served_stays(const char *name, int fd)
{
    const store_tcp_served_t *l = find(name);

    return l && l->fd >= 0 && store_listener_is_same(l->fd, fd);
}

static void open_one(store_tcp_served_t *l)
{
    char name[STORE_NAME];

    l->fd = store_tcp_listener_make(&l->config.address, l->config.port);
    if (l->fd < 0 || watch(l) != 0) {
        store_note(STORE_ERROR, "AppStoreListen %s for space %s: %s",
                   name_of(&l->config, name) + 1, l->config.space,
                   strerror(errno));
        return;
    }
    if (store_mailbox_put(name_of(&l->config, name), l->fd) != 0)
        store_note(STORE_WARN,
                   "the socket of AppStoreListen %s cannot be kept while no "
                   "store runs: %s",
                   name + 1, strerror(errno));
}

void store_tcp_served_open(void)
{
    unsigned i;

    for (i = 0; i < n_list; i++)
        if (list[i].fd < 0)
            open_one(&list[i]);
}

void store_tcp_served_stop(void)
{
    unsigned i;

    for (i = 0; i < n_list; i++)
        close_one(&list[i]);
}
