/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/older_socket.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/store_format.h"
#include "store/server/listener.h"
#include "store/server/main_loop.h"

typedef struct older {
    struct older *next;
    int fd;
    char space[STORE_NAME];
    char path[sizeof((struct sockaddr_un *)NULL)->sun_path + 1];
} older_t;

static older_t *first;
static void (*on_connection)(const char *space, int fd);

void store_older_socket_begin(void (*on_event)(const char *space, int fd))
{
    on_connection = on_event;
}

static void on_listener(void *ctx)
{
    const older_t *o = ctx;

    on_connection(o->space, o->fd);
}

static older_t *make(const char *space, int fd)
{
    struct sockaddr_un address;
    socklen_t size = sizeof address;
    older_t *o = calloc(1, sizeof *o);

    memset(&address, 0, sizeof address);
    if (!o || getsockname(fd, (struct sockaddr *)&address, &size) != 0) {
        free(o);
        return NULL;
    }
    o->fd = fd;
    strncpy(o->space, space, sizeof o->space - 1);
    memcpy(o->path, address.sun_path, sizeof address.sun_path);
    return o;
}

int store_older_socket_stays(int fd)
{
    const older_t *o;

    for (o = first; o && !store_listener_is_same(o->fd, fd); o = o->next)
        ;
    return o != NULL;
}

void store_older_socket_take(const char *space, int fd)
{
    older_t *o = store_older_socket_stays(fd) ? NULL : make(space, fd);

    if (!o || !store_listener_is(fd, o->path) ||
        store_loop_watch(fd, on_listener, o) != 0) {
        free(o);
        close(fd);
        return;
    }
    o->next = first;
    first = o;
}

int store_older_socket_close(const char *space)
{
    older_t **link = &first, *o;
    int closed = 0;

    while ((o = *link)) {
        if (space ? strcmp(o->space, space) != 0
                  : store_listener_is(o->fd, o->path)) {
            link = &o->next;
            continue;
        }
        *link = o->next;
        store_loop_unwatch(o->fd);
        close(o->fd);
        free(o);
        closed = 1;
    }
    return closed;
}
