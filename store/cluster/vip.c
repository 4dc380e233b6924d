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

/* ---- reports ---- */

/* As getifaddrs() does: IFA_ADDRESS may be the other end of the line. */
static const void *address_in(struct nlmsghdr *report, size_t size)
{
    struct ifaddrmsg *about = NLMSG_DATA(report);
    unsigned n = (unsigned)IFA_PAYLOAD(report);
    const void *found = NULL;
    struct rtattr *at;

    for (at = IFA_RTA(about); RTA_OK(at, n); at = RTA_NEXT(at, n))
        if (RTA_PAYLOAD(at) == size &&
            (at->rta_type == IFA_LOCAL ||
             (at->rta_type == IFA_ADDRESS && !found)))
            found = RTA_DATA(at);
    return found;
}

static int is_about(struct nlmsghdr *report, const store_address_t *vip)
{
    size_t size = vip->family == AF_INET ? sizeof vip->u.v4 : sizeof vip->u.v6;
    const struct ifaddrmsg *about = NLMSG_DATA(report);
    const void *address;

    if ((report->nlmsg_type != RTM_NEWADDR &&
         report->nlmsg_type != RTM_DELADDR) ||
        report->nlmsg_len < NLMSG_LENGTH(sizeof *about) ||
        about->ifa_family != vip->family)
        return 0;
    address = address_in(report, size);
    return address && memcmp(address, &vip->u, size) == 0;
}

/* ENOBUFS: there were more reports than the socket had room for. It is cleared
 * by reading it. */
int store_vip_read(int netlink, const store_address_t *vip)
{
    char reports[8192] __attribute__((aligned(NLMSG_ALIGNTO)));
    int has_gone = 0;
    ssize_t n;

    while ((n = recv(netlink, reports, sizeof reports, MSG_DONTWAIT)) >= 0 ||
           errno == ENOBUFS || errno == EINTR) {
        unsigned left = n > 0 ? (unsigned)n : 0;
        struct nlmsghdr *at = (struct nlmsghdr *)reports;

        for (; NLMSG_OK(at, left); at = NLMSG_NEXT(at, left))
            if (is_about(at, vip))
                has_gone = at->nlmsg_type == RTM_DELADDR;
    }
    return has_gone;
}

/* ---- addresses ---- */

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
