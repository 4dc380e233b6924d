/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Which of those that have not said what they want has to go for the next one. */

#include "store/server/waiting_clients.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* The order of these matters. */
#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#define N    (3 * STORE_WAITING_MAX)
#define US   UINT64_C(1)
#define THEM UINT64_C(2)

static store_waiting_t list;
static store_waiting_client_t each[N];
static int is_in[N];
static unsigned n; /* that have come */

static int setup(void **state)
{
    (void)state;
    memset(&list, 0, sizeof list);
    memset(is_in, 0, sizeof is_in);
    n = 0;
    return 0;
}

/* As the callers do it. @return its number */
static unsigned come(uint64_t host, int64_t now)
{
    store_waiting_client_t *due;

    while ((due = store_waiting_due(&list, now))) {
        is_in[due - each] = 0;
        store_waiting_remove(&list, due);
    }
    store_waiting_add(&list, &each[n], host, now);
    is_in[n] = 1;
    assert_in_range(list.n, 1, STORE_WAITING_MAX);
    return n++;
}

static void who_comes_from_elsewhere_stays(void **state)
{
    unsigned first, last = 0, own = come(US, 0), i;

    (void)state;
    first = come(THEM, 0);
    for (i = 0; i < 2 * STORE_WAITING_MAX; i++)
        last = come(THEM, 0);
    assert_true(is_in[own]);
    assert_false(is_in[first]);
    assert_true(is_in[last]);
    assert_false(is_in[last - STORE_WAITING_MAX + 1]);
    assert_true(is_in[last - STORE_WAITING_MAX + 2]);
    /* One more of this host, in a list that is full. */
    i = come(US, 0);
    come(THEM, 0);
    assert_true(is_in[own] && is_in[i]);
}

static void of_hosts_with_as_many_the_oldest_goes(void **state)
{
    unsigned i;

    (void)state;
    for (i = 0; i < STORE_WAITING_MAX; i++)
        come(i + 1, 0);
    assert_true(is_in[0] && is_in[1]);
    come(STORE_WAITING_MAX + 1, 0);
    assert_false(is_in[0]);
    assert_true(is_in[1]);
}

/* The places of hosts that have gone are used again. */
static void hosts_come_and_go(void **state)
{
    unsigned i;

    (void)state;
    for (i = 0; i < N; i++)
        come(i + 1, (int64_t)i * 10);
    for (i = 0; i < N; i++)
        if (is_in[i]) {
            assert_int_equal(list.host[each[i].host].name, i + 1);
            assert_int_equal(list.host[each[i].host].n, 1);
        }
}

static void the_time_of_all_is_limited(void **state)
{
    unsigned early = come(US, 0), late = come(THEM, 1);

    (void)state;
    come(THEM, STORE_WAITING_TIME - 1);
    assert_true(is_in[early]);
    come(THEM, STORE_WAITING_TIME);
    assert_false(is_in[early]);
    assert_true(is_in[late]);
}

/* @return the host of a connection to this loopback address */
static uint64_t host_of(const struct sockaddr *own, socklen_t size)
{
    int listener = socket(own->sa_family, SOCK_STREAM, 0),
        client = socket(own->sa_family, SOCK_STREAM, 0), fd;
    struct sockaddr_storage at;
    socklen_t n_at = sizeof at;
    uint64_t host;

    assert_int_equal(bind(listener, own, size), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &n_at), 0);
    assert_int_equal(bind(client, own, size), 0);
    assert_int_equal(connect(client, (struct sockaddr *)&at, n_at), 0);
    fd = accept(listener, NULL, NULL);
    host = store_waiting_host(fd);
    close(fd);
    close(client);
    close(listener);
    return host;
}

static void a_host_is_its_address(void **state)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    uint64_t one, two;

    (void)state;
    v4.sin_addr.s_addr = htonl(0x7f000001);
    one = host_of((struct sockaddr *)&v4, sizeof v4);
    assert_int_equal(host_of((struct sockaddr *)&v4, sizeof v4), one);
    v4.sin_addr.s_addr = htonl(0x7f000002);
    two = host_of((struct sockaddr *)&v4, sizeof v4);
    assert_true(one != 0 && two != 0 && one != two);
    assert_int_equal(store_waiting_host(-1), 0);
}

/* No connection from such an address can be made here, so the test says what it
 * is. */
static struct sockaddr_in6 peer;

int __wrap_getpeername(int, struct sockaddr *, socklen_t *);
int __real_getpeername(int, struct sockaddr *, socklen_t *);
int __wrap_getpeername(int fd, struct sockaddr *to, socklen_t *size)
{
    if (peer.sin6_family != AF_INET6)
        return __real_getpeername(fd, to, size);
    assert_true(*size >= sizeof peer);
    memcpy(to, &peer, sizeof peer);
    *size = sizeof peer;
    return 0;
}

static uint64_t host_at(const char *address)
{
    uint64_t host;

    peer.sin6_family = AF_INET6;
    assert_int_equal(inet_pton(AF_INET6, address, &peer.sin6_addr), 1);
    host = store_waiting_host(-1);
    peer.sin6_family = AF_UNSPEC;
    return host;
}

static void a_network_of_ipv6_is_a_host(void **state)
{
    (void)state;
    assert_int_equal(host_at("2001:db8:1:2::1"), host_at("2001:db8:1:2:9::8"));
    assert_int_not_equal(host_at("2001:db8:1:2::1"),
                         host_at("2001:db8:1:3::1"));
}

/* A socket of both protocols shows IPv4 as such addresses. */
static void ipv4_in_ipv6_is_its_ipv4_address(void **state)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};

    (void)state;
    v4.sin_addr.s_addr = htonl(0x7f000001);
    assert_int_equal(host_at("::ffff:127.0.0.1"),
                     host_of((struct sockaddr *)&v4, sizeof v4));
    assert_int_not_equal(host_at("::ffff:127.0.0.1"),
                         host_at("::ffff:127.0.0.2"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, setup)
    const struct CMUnitTest tests[] = {
        TEST(who_comes_from_elsewhere_stays),
        TEST(of_hosts_with_as_many_the_oldest_goes),
        TEST(hosts_come_and_go),
        TEST(the_time_of_all_is_limited),
        TEST(a_host_is_its_address),
        TEST(a_network_of_ipv6_is_a_host),
        TEST(ipv4_in_ipv6_is_its_ipv4_address),
    };

    alarm(300);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
