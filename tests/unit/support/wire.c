/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/support/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "store/packet_head.h"
#include "store/memory/region.h"

static void connect_client(wire_t *wire)
{
    store_space_t *space = wire->shelf.space;

    wire->dialogue = store_dialogue_make(
        space, &store_region_figures()->worker[0][space->slot], &wire->server);
    wire->reply = store_reply_make();
    assert_non_null(wire->dialogue);
    assert_non_null(wire->reply);
    assert_int_equal(
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, wire->sockets), 0);
}

static void disconnect(wire_t *wire)
{
    store_dialogue_free(wire->dialogue);
    store_reply_free(wire->reply);
    close(wire->sockets[0]);
    close(wire->sockets[1]);
    free(wire->rest);
    free(wire->replies);
    wire->rest = wire->replies = NULL;
    wire->n_rest = wire->n_replies = 0;
}

void wire_open(wire_t *wire, uint32_t pages)
{
    memset(wire, 0, sizeof *wire);
    shelf_open(&wire->shelf, pages, 1);
    wire->server = (store_server_t){
        .max_object = 1 << 20, .threads = 1, .max_connections = 10};
    connect_client(wire);
}

void wire_close(wire_t *wire)
{
    disconnect(wire);
    shelf_close(&wire->shelf);
}

void wire_again(wire_t *wire)
{
    disconnect(wire);
    connect_client(wire);
}

void wire_join(wire_t *wire, const wire_t *first)
{
    memset(wire, 0, sizeof *wire);
    wire->shelf = first->shelf;
    wire->server = first->server;
    connect_client(wire);
}

void wire_leave(wire_t *wire)
{
    disconnect(wire);
}

/* What is in the socket belongs to the replies. */
static void hear(wire_t *wire)
{
    char bytes[65536];
    ssize_t n;

    while ((n = recv(wire->sockets[1], bytes, sizeof bytes, MSG_DONTWAIT)) >
           0) {
        wire->replies = realloc(wire->replies, wire->n_replies + (size_t)n + 1);
        memcpy(wire->replies + wire->n_replies, bytes, (size_t)n);
        wire->n_replies += (size_t)n;
        wire->replies[wire->n_replies] = '\0';
    }
}

static ssize_t send_to(void *fd, struct iovec *iov, unsigned n)
{
    const struct msghdr message = {.msg_iov = iov, .msg_iovlen = n};

    return sendmsg(*(const int *)fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void send_all(wire_t *wire)
{
    size_t sent;
    int rv;

    do {
        rv = store_reply_send(wire->reply, send_to, &wire->sockets[0], &sent);
        assert_true(rv == 0 || rv == EAGAIN || rv == EINPROGRESS);
        hear(wire);
    } while (rv != 0);
    assert_int_equal(store_reply_pending(wire->reply), 0);
}

void wire_say(wire_t *wire, const void *bytes, size_t n, unsigned budget)
{
    unsigned left;
    size_t used;

    wire->rest = realloc(wire->rest, wire->n_rest + n + 1);
    memcpy(wire->rest + wire->n_rest, bytes, n);
    wire->n_rest += n;
    do {
        left = budget;
        used = store_dialogue_input(wire->dialogue, wire->rest, wire->n_rest,
                                    wire->reply, &left);
        assert_true(used <= wire->n_rest);
        memmove(wire->rest, wire->rest + used, wire->n_rest - used);
        wire->n_rest -= used;
        send_all(wire);
    } while (left == 0);
    assert_true(wire->n_rest <= store_dialogue_line_max());
}

const char *wire_ask(wire_t *wire, const char *text)
{
    size_t before = wire->n_replies;

    wire_say(wire, text, strlen(text), 64);
    return wire->n_replies > before ? wire->replies + before : "";
}

int wire_request(wire_t *wire, uint8_t opcode, const void *extras,
                 uint8_t n_extras, const char *key, const char *value,
                 uint64_t cas)
{
    size_t klen = strlen(key), vlen = strlen(value);
    char head[STORE_PACKET_HEAD] = {(char)STORE_PACKET_REQUEST, (char)opcode};

    head[2] = (char)(klen >> 8);
    head[3] = (char)klen;
    head[4] = (char)n_extras;
    store_net_put32(head + 8, (uint32_t)(n_extras + klen + vlen));
    store_net_put64(head + 16, cas);
    free(wire->replies);
    wire->replies = NULL;
    wire->n_replies = 0;
    wire_say(wire, head, sizeof head, 64);
    wire_say(wire, extras, n_extras, 64);
    wire_say(wire, key, klen, 64);
    wire_say(wire, value, vlen, 64);
    if (wire->n_replies == 0)
        return -1;
    assert_true(wire->n_replies >= STORE_PACKET_HEAD);
    assert_int_equal(wire->n_replies,
                     STORE_PACKET_HEAD + store_net_get32(wire->replies + 8));
    return store_net_get16(wire->replies + 6);
}
