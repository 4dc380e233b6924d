/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/vip.h"

#include <errno.h>
#include <ifaddrs.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int fail(int fd)
{
    int error = errno;

    close(fd);
    errno = error;
    return -1;
}

int store_vip_open(void)
{
    struct sockaddr_nl address = {.nl_family = AF_NETLINK,
                                  .nl_groups =
                                      RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC,
                    NETLINK_ROUTE);

    if (fd < 0 ||
        bind(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    return fail(fd);
}

/* ENOBUFS: there were more reports than the socket had room for. It is cleared
 * by reading it. */
void store_vip_read(int netlink)
{
    char report[4096];

    while (recv(netlink, report, sizeof report, MSG_DONTWAIT) >= 0 ||
           errno == ENOBUFS || errno == EINTR)
        continue;
}

int store_vip_is_here(const store_address_t *vip)
{
    struct ifaddrs *all;
    const struct ifaddrs *one;
    store_address_t address;
    int found = 0;

    if (getifaddrs(&all) != 0)
        return -1;
    for (one = all; one && !found; one = one->ifa_next)
        if (one->ifa_addr && one->ifa_addr->sa_family == vip->family) {
            store_address_of(one->ifa_addr, &address);
            found = store_address_equal(&address, vip);
        }
    freeifaddrs(all);
    return found;
}

/* A promotion needs no bind() then, which could fail. */
static int bind_freely(int fd, const store_address_t *vip, uint16_t port)
{
    struct sockaddr_storage address;
    socklen_t size = store_address_socket(vip, port, &address);
    int on = 1;

    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &on, sizeof on) != 0)
        return -1;
    return bind(fd, (const struct sockaddr *)&address, size);
}

int store_vip_listen(const store_address_t *vip, uint16_t port)
{
    int fd = socket(vip->family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0 ||
        (bind_freely(fd, vip, port) == 0 && listen(fd, SOMAXCONN) == 0))
        return fd;
    return fail(fd);
}
