/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A child may park anything: only a connection to the process is used. */

#include "mod_apppool/backend/parked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/parking.h"
#include "tests/unit/support/scene.h"

#define ID 0xabc0000000000001

static char dir[] = "/tmp/sharedXXXXXX";
static int sockets[PARKING_MAX], lot;

/* A connection to a socket of this name. */
static int connect_to(const char *name)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(at.sun_path, sizeof at.sun_path, "%s/%s", dir, name);
    assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    unlink(at.sun_path);
    close(listener);
    return fd;
}

/* Is this taken from the process's parking socket? */
static int is_taken(int fd)
{
    apppool_parked_t shared = {.id = ID, .place = 0};
    int copy;

    assert_int_equal(parking_put(sockets[0], fd), 0);
    copy = apppool_parked_copy(&shared);
    parking_cut(sockets[0]);
    close(fd);
    if (copy >= 0)
        close(copy);
    return copy >= 0;
}

static void only_what_leads_to_the_process(void **state)
{
    char path[64];
    int ends[2];

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/s", dir);
    assert_int_equal(mkdir(path, 0700), 0);
    lot = parking_make(1);
    assert_int_equal(parking_open(lot, sockets), 1);
    assert_int_equal(apppool_parked_init(lot, dir, geteuid()), 0);
    assert_true(is_taken(connect_to("s/abc0000000000001")));
    assert_false(is_taken(connect_to("s/abc0000000000002")));
    assert_false(is_taken(connect_to("s/abc00000000000010")));
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_false(is_taken(ends[0]));
    close(ends[1]);
    assert_false(is_taken(dup(0)));
    /* A process with the user of httpd's children listens there. */
    apppool_parked_init(lot, dir, geteuid() + 1);
    assert_false(is_taken(connect_to("s/abc0000000000001")));
    rmdir(path);
    rmdir(dir);
}

/* Does a request of a process with this protocol end what is parked there? */
static int does_cut(uint16_t protocol, uint16_t listen)
{
    scene_t *scene = scene_new(2);
    apl_session_ref_t ref;
    apppool_parked_t shared;
    int ends[2], cut;
    char byte;

    scene_busy(scene, scene_app(scene, "a"), &ref, 1);
    ref.wire.protocol = protocol;
    ref.wire.listen = listen;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_int_equal(parking_put(sockets[0], ends[0]), 0);
    assert_int_equal(apppool_parked_begin(&shared, &scene->pool, &ref, 1, 1),
                     0);
    cut = recv(ends[1], &byte, 1, MSG_DONTWAIT) == 0;
    assert_int_equal(shared.is_held, cut);
    parking_cut(sockets[0]);
    close(ends[0]);
    close(ends[1]);
    scene_drop(scene);
    return cut;
}

static void nothing_is_looked_for_where_nothing_is_parked(void **state)
{
    (void)state;
    assert_true(does_cut(APL_HTTP, APL_LISTEN_FD));
    assert_true(does_cut(APL_HTTP, APL_LISTEN_UNIX));
    assert_true(does_cut(APL_FCGI, APL_LISTEN_FD));
    assert_false(does_cut(APL_HTTP, APL_LISTEN_TCP));
    assert_false(does_cut(APL_SCGI, APL_LISTEN_FD));
    assert_false(does_cut(APL_UWSGI, APL_LISTEN_FD));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_leads_to_the_process),
        cmocka_unit_test(nothing_is_looked_for_where_nothing_is_parked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
