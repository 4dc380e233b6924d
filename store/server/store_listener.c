/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/store_listener.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/store_format.h"
#include "store/server/main_loop.h"

static int set_path(struct sockaddr_un *address, const char *path)
{
    if (strlen(path) >= sizeof address->sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path, path, strlen(path));
    return 0;
}

/* The mode comes last: an app that starts takes it as the sign that the socket
 * listens (spawner/start/boot.c). */
static int bind_and_listen(int fd, const struct sockaddr_un *address)
{
    unlink(address->sun_path);
    if (bind(fd, (const struct sockaddr *)address, sizeof *address) != 0)
        return -1;
    if (listen(fd, SOMAXCONN) == 0 && chmod(address->sun_path, 0666) == 0)
        return 0;
    unlink(address->sun_path);
    return -1;
}

static int option(int fd, int name)
{
    int value = -1;
    socklen_t size = sizeof value;

    return getsockopt(fd, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

int store_listener_is_of(int fd, int family)
{
    return option(fd, SO_ACCEPTCONN) == 1 && option(fd, SO_DOMAIN) == family &&
           option(fd, SO_TYPE) == SOCK_STREAM;
}

int store_listener_fail(int fd)
{
    int error = errno;

    close(fd);
    errno = error;
    return -1;
}

int store_listener_make(const char *path)
{
    struct sockaddr_un address;
    int fd;

    if (set_path(&address, path) != 0)
        return -1;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind_and_listen(fd, &address) == 0)
        return fd;
    return store_listener_fail(fd);
}

int store_listener_is(int fd, const char *path)
{
    struct sockaddr_un address = {0};
    socklen_t size = sizeof address;
    struct stat st;

    return store_listener_is_of(fd, AF_UNIX) &&
           getsockname(fd, (struct sockaddr *)&address, &size) == 0 &&
           size <= sizeof address &&
           strncmp(address.sun_path, path, sizeof address.sun_path) == 0 &&
           lstat(path, &st) == 0 && S_ISSOCK(st.st_mode);
}

/* Copies of one socket have one inode. */
int store_listener_is_same(int a, int b)
{
    struct stat of_a, of_b;

    return fstat(a, &of_a) == 0 && fstat(b, &of_b) == 0 &&
           of_a.st_ino == of_b.st_ino && of_a.st_dev == of_b.st_dev;
}

int store_listener_user(int fd, uid_t *uid)
{
    struct ucred peer;
    socklen_t size = sizeof peer;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return -1;
    *uid = peer.uid;
    return 0;
}

int store_listener_accept(int fd, uid_t *uid)
{
    int client = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (client < 0)
        return -1;
    if (store_listener_user(client, uid) != 0) {
        close(client);
        errno = ECONNABORTED;
        return -1;
    }
    return client;
}

/* ---- sockets of older instances ---- */

typedef struct older {
    struct older *next;
    int fd;
    char space[STORE_NAME];
    char path[sizeof((struct sockaddr_un *)NULL)->sun_path + 1];
} older_t;

static older_t *first;
static void (*on_connection)(const char *space, int fd);

void store_listener_begin_older(void (*on_event)(const char *space, int fd))
{
    on_connection = on_event;
}

static void on_listener(void *ctx)
{
    const older_t *o = ctx;

    on_connection(o->space, o->fd);
}

static older_t *make_older(const char *space, int fd)
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

int store_listener_stays_older(int fd)
{
    const older_t *o;

    for (o = first; o && !store_listener_is_same(o->fd, fd); o = o->next)
        ;
    return o != NULL;
}

void store_listener_take_older(const char *space, int fd)
{
    older_t *o = store_listener_stays_older(fd) ? NULL : make_older(space, fd);

    if (!o || !store_listener_is(fd, o->path) ||
        store_loop_watch(fd, on_listener, o) != 0) {
        free(o);
        close(fd);
        return;
    }
    o->next = first;
    first = o;
}

int store_listener_close_older(const char *space)
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
