/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Which addresses are at this host, and listeners at those that are not. */

#include "store/cluster/vip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
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
    int netlink = store_vip_open();

    (void)state;
    assert_true(netlink >= 0);
    store_vip_read(netlink);
    close(netlink);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_is_here_or_not),
        cmocka_unit_test(it_listens_at_an_address_that_is_not_here),
        cmocka_unit_test(without_reports_it_does_not_wait),
    };

    alarm(60);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
