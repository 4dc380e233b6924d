/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What an app listens on, if not where it should. */

#include "spawner/start/start.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/procfs.h"
#include "tests/unit/support/scene.h"

#define INSTANCE "0123456789abcdef"

static void the_right_place_has_a_name(void **state)
{
    process_t p = {.wrong_port = {.ports = strdup("port 3000"),
                                  .owner = "process 7, ruby"}};
    char text[256];

    (void)state;
    assert_true(wrong_port_is_known(&p));
    p.is.wire.listen = APL_LISTEN_FD;
    wrong_port_say(&p, "listens", text, sizeof text);
    assert_string_equal(
        text,
        "listens on TCP port 3000, where httpd does not "
        "connect (process 7, ruby; with AppListen tcp, the "
        "port to listen on is in $PORT), and did not accept connections on "
        "descriptor 3");
    p.is.wire.listen = APL_LISTEN_UNIX;
    wrong_port_say(&p, "listens", text, sizeof text);
    assert_non_null(strstr(text, "connections on $APPPOOL_SOCKET"));
    p.is.wire.listen = APL_LISTEN_TCP;
    p.is.wire.port = 4711;
    wrong_port_say(&p, "listens", text, sizeof text);
    assert_non_null(strstr(
        text,
        "; AppListen is tcp: the place to listen on is $HOST and $PORT)"));
    assert_non_null(strstr(text, "connections on 127.0.0.1 port 4711"));
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

/* An app with a session of its own: other tests listen in this one. The first
 * socket is IPv6, if this machine has that.
 * @param port of its sockets, in this order */
static pid_t start_app(uint16_t *port, int n)
{
    int ends[2], fd, i;
    pid_t pid;

    assert_int_equal(pipe(ends), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* if the test fails */
        setsid();
        (void)!socket(AF_INET, SOCK_STREAM, 0); /* it does not listen */
        (void)!open("/dev/null", O_RDONLY);
        port[0] = listen_on(AF_INET6, &fd);
        for (i = port[0] == 0 ? 0 : 1; i < n; i++)
            port[i] = listen_on(AF_INET, &fd);
        dup(fd); /* a port counts once */
        if (write(ends[1], port, (size_t)n * sizeof *port) > 0)
            for (;;)
                pause();
        _exit(1);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], port, (size_t)n * sizeof *port),
                     (size_t)n * sizeof *port);
    close(ends[0]);
    return pid;
}

static process_t process_of(pid_t app)
{
    process_t p = {0};
    procfs_t is;

    assert_int_equal(procfs_read(app, &is), 0);
    assert_int_equal(is.session, app);
    p.is.pid = app;
    p.is.start = is.start;
    p.is.uid = getuid();
    p.is.wire.listen = APL_LISTEN_FD;
    return p;
}

static int has(const char *text, uint16_t port)
{
    char number[8];

    snprintf(number, sizeof number, "%u", port);
    return strstr(text, number) != NULL;
}

static void sockets_of_the_app_are_found(void **state)
{
    uint16_t port[2];
    pid_t app = start_app(port, 2);
    process_t p = process_of(app);
    wrong_port_t found;
    char want[PROCESS_OWNER_MAX];
    int fd;

    (void)state;
    wrong_port_find(&p, INSTANCE, &found);
    assert_int_equal(strncmp(found.ports, "ports ", 6), 0);
    assert_true(has(found.ports, port[0]) && has(found.ports, port[1]));
    snprintf(want, sizeof want, "process %d, wrong_port", (int)app);
    assert_string_equal(found.owner, want);
    p.is.wire.listen = APL_LISTEN_TCP; /* one of them is the right one */
    p.is.wire.port = port[0];
    wrong_port_find(&p, INSTANCE, &found);
    if (listen_on(AF_INET6, &fd)) /* httpd connects to 127.0.0.1 */
        snprintf(want, sizeof want, "port %u of ::1", port[0]);
    else
        snprintf(want, sizeof want, "port %u", port[1]);
    close(fd);
    assert_string_equal(found.ports, want);
    p.is.wire.port = port[1];
    wrong_port_find(&p, INSTANCE, &found);
    snprintf(want, sizeof want, "port %u", port[0]);
    assert_string_equal(found.ports, want);
    p.is.uid++;
    wrong_port_find(&p, INSTANCE, &found);
    assert_string_equal(found.ports, "");
    p.is.uid--;
    p.is.pid = 1 << 30; /* no process is of this session */
    wrong_port_find(&p, INSTANCE, &found);
    assert_string_equal(found.ports, "");
    kill(app, SIGKILL);
    assert_int_equal(waitpid(app, NULL, 0), app);
}

/* Whole numbers, as many as have a place. */
static void the_first_of_many_are_named(void **state)
{
    uint16_t port[WRONG_PORT_MAX + 2];
    pid_t app = start_app(port, WRONG_PORT_MAX + 2);
    process_t p = process_of(app);
    wrong_port_t found;
    const char *c;
    int i, commas = 0, named = 0;

    (void)state;
    wrong_port_find(&p, INSTANCE, &found);
    for (c = found.ports; *c; c++)
        commas += *c == ',';
    for (i = 0; i < WRONG_PORT_MAX + 2; i++)
        named += has(found.ports, port[i]);
    assert_int_equal(commas, WRONG_PORT_MAX - 1);
    assert_int_equal(named, WRONG_PORT_MAX);
    kill(app, SIGKILL);
    assert_int_equal(waitpid(app, NULL, 0), app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_right_place_has_a_name),
        cmocka_unit_test(sockets_of_the_app_are_found),
        cmocka_unit_test(the_first_of_many_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
