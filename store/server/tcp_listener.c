/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/tcp_listener.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int set(int fd, int level, int option)
{
    int on = 1;

    return setsockopt(fd, level, option, &on, sizeof on);
}

/* A restart may bind at once, and IPv6 does not take the address of IPv4. */
static int prepare(int fd, sa_family_t family, int free_bind)
{
    if (set(fd, SOL_SOCKET, SO_REUSEADDR) != 0)
        return -1;
    if (family == AF_INET6 && set(fd, IPPROTO_IPV6, IPV6_V6ONLY) != 0)
        return -1;
    if (!free_bind)
        return 0;
    return family == AF_INET6 ? set(fd, IPPROTO_IPV6, IPV6_FREEBIND)
                              : set(fd, IPPROTO_IP, IP_FREEBIND);
}

int store_tcp_listener_make(const store_address_t *a, uint16_t port,
                            int free_bind)
{
    struct sockaddr_storage address;
    socklen_t n = store_address_socket(a, port, &address);
    int error,
        fd = socket(a->family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
                    IPPROTO_TCP);

    if (fd < 0)
        return -1;
    if (prepare(fd, a->family, free_bind) == 0 &&
        bind(fd, (const struct sockaddr *)&address, n) == 0 &&
        listen(fd, SOMAXCONN) == 0)
        return fd;
    error = errno;
    close(fd);
    errno = error;
    return -1;
}

static int option(int fd, int name)
{
    int value = -1;
    socklen_t size = sizeof value;

    return getsockopt(fd, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
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
    if (option(fd, SO_ACCEPTCONN) != 1 || option(fd, SO_TYPE) != SOCK_STREAM ||
        option(fd, SO_DOMAIN) != a->family ||
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
    store_cluster_set_options(client);
    return client;
}
