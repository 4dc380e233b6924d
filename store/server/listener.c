/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/listener.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

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
