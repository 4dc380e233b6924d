/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/tcp_listener.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "store/server/listener.h"

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

int store_tcp_listener_make(const store_address_t *a, uint16_t port)
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

int store_tcp_listener_is(int fd, const store_address_t *a, uint16_t port)
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
