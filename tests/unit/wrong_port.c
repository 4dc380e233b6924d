/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What an app listens on, if not where it should. */

#include "spawner/diagnose/wrong_port.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "spawner/common/procfs.h"
#include "tests/unit/support/scene.h"

static void a_link_has_a_number(void **state)
{
    (void)state;
    assert_int_equal(own_ports_socket("socket:[4711]"), 4711);
    assert_int_equal(own_ports_socket("socket:[4294967295]"), 4294967295);
    assert_int_equal(own_ports_socket("socket:[4294967296]"), 0);
    assert_int_equal(own_ports_socket("socket:[99999999999999999999]"), 0);
    assert_int_equal(own_ports_socket("socket:[]"), 0);
    assert_int_equal(own_ports_socket("socket:[47"), 0);
    assert_int_equal(own_ports_socket("socket:[47]x"), 0);
    assert_int_equal(own_ports_socket("pipe:[4711]"), 0);
    assert_int_equal(own_ports_socket("/srv/socket:[4711]"), 0);
    assert_int_equal(own_ports_socket(""), 0);
}

static void a_port_counts_once(void **state)
{
    own_ports_t found = {0};
    uint32_t port;

    (void)state;
    for (port = 65535; port > 65000; port--) {
        own_ports_add(&found, port);
        own_ports_add(&found, 65535);
    }
    assert_int_equal(found.n, OWN_PORTS_MAX);
    assert_int_equal(found.port[0], 65535);
    assert_int_equal(found.port[1], 65534);
}

static void ports_have_words(void **state)
{
    own_ports_t found = {.n = 2, .port = {3000, 9229}};
    char text[80];
    uint32_t i;

    (void)state;
    wrong_port_list(&found, 0, text, sizeof text);
    assert_string_equal(text, "ports 3000, 9229");
    wrong_port_list(&found, 3000, text, sizeof text);
    assert_string_equal(text, "port 9229");
    found.n = 1;
    wrong_port_list(&found, 3000, text, sizeof text);
    assert_string_equal(text, "");
    for (i = 0; i < OWN_PORTS_MAX; i++)
        found.port[i] = (uint16_t)(65535 - i);
    found.n = OWN_PORTS_MAX;
    wrong_port_list(&found, 0, text, sizeof text);
    assert_non_null(strstr(text, "65528"));
    wrong_port_list(&found, 0, text, 32); /* whole numbers only */
    assert_string_equal(text, "ports 65535, 65534, 65533");
}

static void the_right_place_has_a_name(void **state)
{
    process_t p = {.wrong_port.ports = "port 3000"};
    char text[256];

    (void)state;
    assert_true(wrong_port_is_known(&p));
    p.is.wire.listen = APL_LISTEN_FD;
    wrong_port_say(&p, "listens", text, sizeof text);
    assert_string_equal(text,
                        "listens on TCP port 3000, where httpd does not "
                        "connect (with AppListen tcp, the port to listen on is "
                        "in $PORT), and did not accept connections on "
                        "descriptor 3");
    p.is.wire.listen = APL_LISTEN_UNIX;
    wrong_port_say(&p, "listens", text, sizeof text);
    assert_non_null(strstr(text, "connections on $APPPOOL_SOCKET"));
    p.is.wire.listen = APL_LISTEN_TCP;
    p.is.wire.port = 4711;
    wrong_port_say(&p, "listens", text, sizeof text);
    assert_non_null(strstr(text, "(AppListen is tcp: the port to"));
    assert_non_null(strstr(text, "connections on port 4711"));
    wrong_port_forget(&p);
    assert_false(wrong_port_is_known(&p));
}

/* A socket that listens. @return its port */
static uint16_t listen_on(int family, int *fd)
{
    struct sockaddr_in6 at6 = {.sin6_family = AF_INET6,
                               .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr_in at4 = {.sin_family = AF_INET,
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int is6 = family == AF_INET6;
    struct sockaddr *at =
        is6 ? (struct sockaddr *)&at6 : (struct sockaddr *)&at4;
    socklen_t size = is6 ? sizeof at6 : sizeof at4;

    *fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*fd < 0 || bind(*fd, at, size) != 0 || listen(*fd, 1) != 0 ||
        getsockname(*fd, at, &size) != 0)
        return 0;
    return ntohs(is6 ? at6.sin6_port : at4.sin_port);
}

static int has(const own_ports_t *found, uint16_t port)
{
    uint32_t i;

    for (i = 0; i < found->n; i++)
        if (found->port[i] == port)
            return 1;
    return 0;
}

/* This process is the app. */
static void sockets_of_the_app_are_found(void **state)
{
    int fd4, fd6, bound = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    uint16_t port4 = listen_on(AF_INET, &fd4),
             port6 = listen_on(AF_INET6, &fd6);
    own_ports_t found;
    procfs_t self;
    process_t p = {0};

    (void)state;
    assert_int_equal(procfs_read(getpid(), &self), 0);
    p.is.pid = self.session; /* the leader; it may be this process itself */
    p.is.start = self.session == self.pid ? self.start : 0;
    p.is.uid = getuid();
    own_ports_find(&p, &found);
    assert_true(port4 != 0 && has(&found, port4));
    assert_true(port6 == 0 || has(&found, port6)); /* no IPv6 on this machine */
    p.is.uid++;
    own_ports_find(&p, &found);
    assert_int_equal(found.n, 0);
    p.is.uid--;
    p.is.pid = 1 << 30; /* no process is of this session */
    own_ports_find(&p, &found);
    assert_int_equal(found.n, 0);
    close(fd4);
    close(fd6);
    close(bound);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_link_has_a_number),
        cmocka_unit_test(a_port_counts_once),
        cmocka_unit_test(ports_have_words),
        cmocka_unit_test(the_right_place_has_a_name),
        cmocka_unit_test(sockets_of_the_app_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
