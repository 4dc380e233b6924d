/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/cluster.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

int store_address_parse(const char *text, store_address_t *a)
{
    memset(a, 0, sizeof *a);
    if (inet_pton(AF_INET, text, &a->u.v4) == 1)
        a->family = AF_INET;
    else if (inet_pton(AF_INET6, text, &a->u.v6) == 1)
        a->family = AF_INET6;
    return a->family == AF_UNSPEC ? -1 : 0;
}

void store_address_of(const struct sockaddr *from, store_address_t *a)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;

    memset(a, 0, sizeof *a);
    if (from->sa_family == AF_INET) {
        memcpy(&v4, from, sizeof v4);
        a->u.v4 = v4.sin_addr;
        a->family = AF_INET;
    }
    if (from->sa_family != AF_INET6)
        return;
    memcpy(&v6, from, sizeof v6);
    if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
        memcpy(&a->u.v4, v6.sin6_addr.s6_addr + 12, sizeof a->u.v4);
        a->family = AF_INET;
    }
    else {
        a->u.v6 = v6.sin6_addr;
        a->family = AF_INET6;
    }
}

int store_address_equal(const store_address_t *a, const store_address_t *b)
{
    if (a->family != b->family)
        return 0;
    if (a->family == AF_INET)
        return a->u.v4.s_addr == b->u.v4.s_addr;
    return a->family == AF_UNSPEC ||
           memcmp(&a->u.v6, &b->u.v6, sizeof a->u.v6) == 0;
}

int store_address_is_in(const store_address_t *list, unsigned n,
                        const store_address_t *address)
{
    unsigned i;

    for (i = 0; i < n && !store_address_equal(&list[i], address); i++)
        ;
    return i < n;
}

const char *store_address_text(const store_address_t *a,
                               char to[STORE_ADDRESS_TEXT])
{
    const void *from =
        a->family == AF_INET ? (const void *)&a->u.v4 : (const void *)&a->u.v6;

    if (a->family == AF_UNSPEC ||
        !inet_ntop(a->family, from, to, STORE_ADDRESS_TEXT))
        to[0] = '\0';
    return to;
}

socklen_t store_address_socket(const store_address_t *a, uint16_t port,
                               struct sockaddr_storage *to)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6,
                              .sin6_port = htons(port)};

    memset(to, 0, sizeof *to);
    if (a->family == AF_INET) {
        v4.sin_addr = a->u.v4;
        memcpy(to, &v4, sizeof v4);
        return sizeof v4;
    }
    v6.sin6_addr = a->u.v6;
    memcpy(to, &v6, sizeof v6);
    return sizeof v6;
}

unsigned store_cluster_spaces(const store_cluster_hooks_t *hooks,
                              store_space_t *to[STORE_SPACES])
{
    store_space_t *space;
    unsigned i, n = 0;

    for (i = 0; n < STORE_SPACES && (space = hooks->nth(i)); i++)
        if (hooks->find(space->name) == space)
            to[n++] = space;
    return n;
}

int store_cluster_is_open(const store_cluster_t *config, const char *space)
{
    return strcmp(config->open_space, space) == 0;
}

void store_cluster_set_options(int fd, unsigned lost)
{
    static const int on = 1, idle = 5, interval = 1, count = 5;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (lost == 0)
        return;
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &lost, sizeof lost);
}

int store_cluster_connect(const store_address_t *to, uint16_t port,
                          unsigned lost)
{
    struct sockaddr_storage at;
    socklen_t n = store_address_socket(to, port, &at);
    int error,
        fd = socket(to->family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    store_cluster_set_options(fd, lost);
    if (connect(fd, (const struct sockaddr *)&at, n) == 0 ||
        errno == EINPROGRESS)
        return fd;
    error = errno;
    close(fd);
    errno = error;
    return -1;
}

int store_cluster_connected(int fd)
{
    int error = 0;
    socklen_t size = sizeof error;

    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
        return -1;
    errno = error;
    return error ? -1 : 0;
}
