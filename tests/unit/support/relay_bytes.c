/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/support/relay_scene.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#define LIMIT 40000 /* ms */
#define HEAD  24
#define FULL  300 /* ms without a byte: nobody takes more */

/* ---- the name of a space ---- */

size_t scene_put_name(char to[SCENE_NAME], const char *name)
{
    size_t n = strlen(name);

    memset(to, 0, HEAD);
    to[0] = (char)0x80;
    to[1] = (char)STORE_RELAY_SPACE;
    to[3] = to[11] = (char)n;
    memcpy(to + HEAD, name, n);
    return HEAD + n;
}

void scene_expect_name(int master, const char *name)
{
    char packet[SCENE_NAME];

    scene_expect(master, packet, scene_put_name(packet, name));
}

void scene_answer_name(int master, unsigned status)
{
    char reply[HEAD + 5] = {(char)0x81, (char)STORE_RELAY_SPACE};
    size_t n = HEAD;

    if (status != 0) {
        reply[7] = (char)status;
        reply[11] = 5;
        if (status == 0x81) /* as yrmcds */
            reply[1] = 0x51;
        memcpy(reply + HEAD, "sorry", 5);
        n += 5;
    }
    scene_send(master, reply, n);
}

/* ---- bytes ---- */

void scene_send(int fd, const char *bytes, size_t n)
{
    assert_int_equal(send(fd, bytes, n, MSG_NOSIGNAL), n);
}

void scene_read(int fd, char *to, size_t n)
{
    assert_int_equal(recv(fd, to, n, MSG_WAITALL), n);
}

void scene_expect(int fd, const char *bytes, size_t n)
{
    char got[SCENE_NAME];

    assert_true(n <= sizeof got);
    scene_read(fd, got, n);
    assert_memory_equal(got, bytes, n);
}

void scene_expect_end(int fd)
{
    char byte;
    ssize_t n = recv(fd, &byte, 1, 0);

    if (n < 0)
        assert_int_equal(errno, ECONNRESET);
    else
        assert_int_equal(n, 0);
}

void scene_expect_end_or_name(int fd)
{
    char name[SCENE_NAME];

    if (recv(fd, name, sizeof name, MSG_WAITALL) < 0)
        assert_int_equal(errno, ECONNRESET);
}

/* The n-th byte of what is sent. */
static char byte_at(size_t n)
{
    return (char)(n * 2654435761u >> 13);
}

static void make(char *to, size_t at, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++)
        to[i] = byte_at(at + i);
}

static void check(const char *got, size_t at, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++)
        if (got[i] != byte_at(at + i))
            fail_msg("byte %zu is another one", at + i);
}

size_t scene_fill(int fd)
{
    static char buffer[1 << 16];
    struct pollfd p = {fd, POLLOUT, 0};
    size_t filled = 0;
    ssize_t n;

    while (poll(&p, 1, FULL) == 1) {
        make(buffer, filled, sizeof buffer);
        n = send(fd, buffer, sizeof buffer, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0)
            filled += (size_t)n;
    }
    return filled;
}

void scene_drain(int fd, size_t n)
{
    static char buffer[1 << 16];
    size_t at = 0, most;
    ssize_t got;

    for (; at < n; at += (size_t)got) {
        most = n - at < sizeof buffer ? n - at : sizeof buffer;
        got = recv(fd, buffer, most, 0);
        assert_true(got > 0);
        check(buffer, at, (size_t)got);
    }
}

void scene_exchange(int fd, size_t n)
{
    static char buffer[1 << 16];
    size_t sent = 0, at = 0, most;
    ssize_t got;

    while (at < n) {
        struct pollfd p = {fd, POLLIN, 0};

        if (sent < n)
            p.events |= POLLOUT;
        assert_int_equal(poll(&p, 1, LIMIT), 1);
        most = n - sent < sizeof buffer ? n - sent : sizeof buffer;
        make(buffer, sent, most);
        got = most ? send(fd, buffer, most, MSG_DONTWAIT) : 0;
        sent += got > 0 ? (size_t)got : 0;
        got = recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
        assert_true(got > 0 || (got < 0 && errno == EAGAIN));
        if (got > 0) {
            check(buffer, at, (size_t)got);
            at += (size_t)got;
        }
    }
}
