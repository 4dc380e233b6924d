/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What an app listens on, if not where it should. */

#include "spawner/start/wrong_port.h"

#include <arpa/inet.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/procfs.h"
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

/* An app with a session of its own: other tests listen in this one.
 * @param port of its sockets; 0: no IPv6 on this machine */
static pid_t start_app(uint16_t port[2])
{
    int ends[2], fd;
    pid_t pid;

    assert_int_equal(pipe(ends), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* if the test fails */
        setsid();
        (void)!socket(AF_INET, SOCK_STREAM, 0); /* it does not listen */
        port[0] = listen_on(AF_INET, &fd);
        port[1] = listen_on(AF_INET6, &fd);
        if (write(ends[1], port, 2 * sizeof *port) > 0)
            for (;;)
                pause();
        _exit(1);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], port, 2 * sizeof *port), 2 * sizeof *port);
    close(ends[0]);
    return pid;
}

static void sockets_of_the_app_are_found(void **state)
{
    uint16_t port[2];
    pid_t app = start_app(port);
    own_ports_t found;
    procfs_t is;
    process_t p = {0};

    (void)state;
    assert_int_equal(procfs_read(app, &is), 0);
    assert_int_equal(is.session, app);
    p.is.pid = app;
    p.is.start = is.start;
    p.is.uid = getuid();
    own_ports_find(&p, &found);
    assert_true(port[0] != 0 && has(&found, port[0]));
    assert_true(port[1] == 0 || has(&found, port[1]));
    assert_int_equal(found.n, port[1] == 0 || port[1] == port[0] ? 1 : 2);
    p.is.uid++;
    own_ports_find(&p, &found);
    assert_int_equal(found.n, 0);
    p.is.uid--;
    p.is.pid = 1 << 30; /* no process is of this session */
    own_ports_find(&p, &found);
    assert_int_equal(found.n, 0);
    kill(app, SIGKILL);
    assert_int_equal(waitpid(app, NULL, 0), app);
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
