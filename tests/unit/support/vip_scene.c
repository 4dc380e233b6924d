/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/support/vip_scene.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock_ms.h"
#include "store/cluster/relay_master.h"
#include "store/server/main_loop.h"
#include "store/server/vip_clients.h"

store_cluster_t vip_config;
store_space_t vip_shop, vip_open;
store_role_t vip_role;
store_stream_t *vip_served[VIP_SERVED]; /* that a worker has */
int vip_n_served;
const store_space_t *vip_served_space;
int vip_n_locked; /* clients that have to log in */
int vip_shortage; /* errno of accept(); 0: none */
int vip_tries;
static int listener;

const unsigned char vip_secret[STORE_SECRET_MIN] = "a secret of 32 bytes";

/* ---- what the server gives ---- */

store_role_t __wrap_store_role(void);
void __wrap_store_role_tick(int64_t now);
int __wrap_store_role_is_over(void);
void __wrap_store_accept_locked(store_stream_t *, int64_t now);
int __real_accept4(int fd, struct sockaddr *from, socklen_t *size, int flags);
int __wrap_accept4(int fd, struct sockaddr *from, socklen_t *size, int flags);

store_role_t __wrap_store_role(void)
{
    return vip_role;
}

void __wrap_store_role_tick(int64_t now)
{
    (void)now;
}

int __wrap_store_role_is_over(void)
{
    return 0;
}

void __wrap_store_accept_locked(store_stream_t *stream, int64_t now)
{
    (void)now;
    vip_n_locked++;
    store_stream_close(stream);
}

int __wrap_accept4(int fd, struct sockaddr *from, socklen_t *size, int flags)
{
    vip_tries++;
    if (vip_shortage == 0)
        return __real_accept4(fd, from, size, flags);
    errno = vip_shortage;
    return -1;
}

static store_space_t *find(const char *name)
{
    return strcmp(name, "shop") == 0   ? &vip_shop
           : strcmp(name, "open") == 0 ? &vip_open
                                       : NULL;
}

static void serve(store_space_t *space, store_stream_t *stream)
{
    assert_true(vip_n_served < VIP_SERVED);
    vip_served[vip_n_served++] = stream;
    vip_served_space = space;
}

static const store_cluster_hooks_t hooks = {
    .config = &vip_config, .find = find, .serve = serve};

static void on_listener(void *ctx)
{
    (void)ctx;
    store_vip_clients_accept(listener);
}

/* ---- begin and end ---- */

int vip_setup(void **state)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    (void)state;
    memset(&vip_config, 0, sizeof vip_config);
    vip_config.n_peers = 1;
    assert_int_equal(store_address_parse("127.0.0.1", &vip_config.peer[0]), 0);
    vip_config.n_secret = sizeof vip_secret;
    memcpy(vip_config.secret, vip_secret, sizeof vip_secret);
    vip_role = STORE_MASTER;
    vip_shortage = vip_tries = vip_n_served = vip_n_locked = 0;
    vip_served_space = NULL;
    listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(listener, VIP_SERVED), 0);
    store_vip_clients_begin(&hooks);
    return store_loop_watch(listener, on_listener, NULL);
}

int vip_teardown(void **state)
{
    (void)state;
    store_vip_clients_end();
    store_loop_unwatch(listener);
    close(listener);
    while (vip_n_served > 0)
        store_stream_close(vip_served[--vip_n_served]);
    return 0;
}

/* ---- a peer ---- */

int vip_connect(const char *text)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_storage from, to;
    socklen_t size = sizeof to;
    store_address_t address;

    assert_int_equal(store_address_parse(text, &address), 0);
    size = store_address_socket(&address, 0, &from);
    assert_int_equal(bind(fd, (struct sockaddr *)&from, size), 0);
    size = sizeof to;
    assert_int_equal(getsockname(listener, (struct sockaddr *)&to, &size), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, size), 0);
    return fd;
}

void vip_turn(int64_t until)
{
    assert_true(clock_ms() < until);
    store_loop_turn(5);
}

/* Turn the loop until the other end has closed it. @return bytes before that */
size_t vip_read_to_end(int fd)
{
    int64_t until = clock_ms() + VIP_PATIENCE;
    size_t all = 0;
    char bytes[256];
    ssize_t n;

    while ((n = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT)) != 0) {
        if (n < 0 && errno == ECONNRESET)
            break;
        if (n > 0)
            all += (size_t)n;
        vip_turn(until);
    }
    return all;
}

void vip_wait_served(int n)
{
    int64_t until = clock_ms() + VIP_PATIENCE;

    while (vip_n_served < n)
        vip_turn(until);
}

store_stream_t *vip_call(const unsigned char *with)
{
    store_stream_t *s =
        store_stream_make(vip_connect("127.0.0.1"), 0, with, sizeof vip_secret);

    assert_non_null(s);
    return s;
}

int vip_shake_hands(store_stream_t *s)
{
    int64_t until = clock_ms() + VIP_PATIENCE;
    int rv;

    while ((rv = store_stream_handshake(s)) != 0 && errno == EAGAIN)
        vip_turn(until);
    return rv;
}

void vip_say(store_stream_t *s, const void *from, size_t n)
{
    const char *at = from;
    int64_t until = clock_ms() + VIP_PATIENCE;
    ssize_t put;

    while (n > 0) {
        put = store_stream_write(s, at, n);
        if (put > 0) {
            at += put;
            n -= (size_t)put;
        }
        else {
            assert_int_equal(errno, EAGAIN);
            vip_turn(until);
        }
    }
}

/* @return bytes, less than n at the end */
size_t vip_hear(store_stream_t *s, void *to, size_t n)
{
    int64_t until = clock_ms() + VIP_PATIENCE;
    size_t all = 0;
    ssize_t got;

    while (all < n &&
           (got = store_stream_read(s, (char *)to + all, n - all)) != 0) {
        if (got > 0)
            all += (size_t)got;
        else if (errno != EAGAIN)
            return all;
        else
            vip_turn(until);
    }
    return all;
}

/* The first packet of a relay. */
size_t vip_packet(const char *name, unsigned char to[64])
{
    size_t n = strlen(name);

    memset(to, 0, 64);
    to[0] = STORE_PACKET_REQUEST;
    to[1] = STORE_RELAY_SPACE;
    to[3] = to[11] = (unsigned char)n;
    memcpy(to + 24, name, n);
    return 24 + n;
}

/* A relay whose space is known. */
store_stream_t *vip_join(void)
{
    store_stream_t *s = vip_call(vip_secret);
    unsigned char packet[64], reply[24];
    size_t n = vip_packet("shop", packet);
    int before = vip_n_served;

    assert_int_equal(vip_shake_hands(s), 0);
    vip_say(s, packet, n);
    assert_int_equal(vip_hear(s, reply, 24), 24);
    assert_int_equal(reply[0], 0x81);
    assert_int_equal(reply[7], 0);
    vip_wait_served(before + 1);
    assert_ptr_equal(vip_served_space, &vip_shop);
    return s;
}
