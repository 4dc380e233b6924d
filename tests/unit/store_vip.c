/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Which addresses are at this host, and listeners at those that are not. */

#include "store/cluster/vip.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define ELSEWHERE "192.0.2.77" /* of no host */

static store_address_t address(const char *text)
{
    store_address_t a;

    assert_int_equal(store_address_parse(text, &a), 0);
    return a;
}

static void an_address_is_here_or_not(void **state)
{
    store_address_t loopback = address("127.0.0.1"),
                    elsewhere = address(ELSEWHERE),
                    six = address("2001:db8::77");

    (void)state;
    assert_int_equal(store_vip_is_here(&loopback), 1);
    assert_int_equal(store_vip_is_here(&elsewhere), 0);
    assert_int_equal(store_vip_is_here(&six), 0);
}

/* A slave that is promoted must not have to bind first. */
static void it_listens_at_an_address_that_is_not_here(void **state)
{
    store_address_t elsewhere = address(ELSEWHERE);
    struct sockaddr_in bound;
    socklen_t size = sizeof bound;
    int fd = store_vip_listen(&elsewhere, 0);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&bound, &size), 0);
    assert_int_equal(bound.sin_addr.s_addr, elsewhere.u.v4.s_addr);
    close(fd);
}

static void without_reports_it_does_not_wait(void **state)
{
    store_address_t elsewhere = address(ELSEWHERE);
    int netlink = store_vip_open();

    (void)state;
    assert_true(netlink >= 0);
    assert_int_equal(store_vip_read(netlink, &elsewhere), 0);
    close(netlink);
}

/* ---- reports ---- */

/* One with an address, as the kernel writes it. @return its size */
static size_t put(char *to, uint16_t type, uint16_t kind, const char *text)
{
    store_address_t a = address(text);
    size_t n = a.family == AF_INET ? 4 : 16,
           size = NLMSG_SPACE(sizeof(struct ifaddrmsg)) + RTA_SPACE(n);
    struct nlmsghdr head = {.nlmsg_len = (uint32_t)size, .nlmsg_type = type};
    struct ifaddrmsg about = {.ifa_family = (uint8_t)a.family};
    struct rtattr at = {(uint16_t)RTA_LENGTH(n), kind};

    memcpy(to, &head, sizeof head);
    memcpy(to + NLMSG_HDRLEN, &about, sizeof about);
    to += NLMSG_SPACE(sizeof about);
    memcpy(to, &at, sizeof at);
    memcpy(to + sizeof at, &a.u, n);
    return size;
}

/* @return what store_vip_read() says of these bytes */
static int read_reports(const char *bytes, size_t n, const char *vip)
{
    store_address_t a = address(vip);
    int ends[2], has_gone;

    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    if (n > 0)
        assert_int_equal(send(ends[0], bytes, n, 0), n);
    has_gone = store_vip_read(ends[1], &a);
    close(ends[0]);
    close(ends[1]);
    return has_gone;
}

static void a_report_says_that_an_address_has_gone(void **state)
{
    static const char *const four = "10.0.0.9", *const six = "2001:db8::9";
    char bytes[512];
    size_t n = put(bytes, RTM_DELADDR, IFA_LOCAL, four), more, cut;

    (void)state;
    assert_int_equal(read_reports(bytes, n, four), 1);
    assert_int_equal(read_reports(bytes, n, "10.0.0.8"), 0);
    assert_int_equal(read_reports(bytes, n, six), 0);
    for (cut = 1; cut < n; cut++)
        assert_int_equal(read_reports(bytes, cut, four), 0);
    more = n + put(bytes + n, RTM_NEWADDR, IFA_LOCAL, four);
    assert_int_equal(read_reports(bytes, more, four), 0);
    more = n + put(bytes + n, RTM_NEWADDR, IFA_LOCAL, "10.0.0.8");
    assert_int_equal(read_reports(bytes, more, four), 1);
    n = put(bytes, RTM_DELADDR, IFA_ADDRESS, six);
    assert_int_equal(read_reports(bytes, n, six), 1);
    n = put(bytes, RTM_DELADDR, IFA_BROADCAST, four);
    assert_int_equal(read_reports(bytes, n, four), 0);
    n = put(bytes, RTM_DELLINK, IFA_LOCAL, four);
    assert_int_equal(read_reports(bytes, n, four), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_is_here_or_not),
        cmocka_unit_test(it_listens_at_an_address_that_is_not_here),
        cmocka_unit_test(without_reports_it_does_not_wait),
        cmocka_unit_test(a_report_says_that_an_address_has_gone),
    };

    alarm(300);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
