/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/talk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/cluster/hello.h"
#include "store/cluster/history.h"

#define BYTES (STORE_WIRE_SMALL_MAX + STORE_WIRE_HELLO_MAX)

int store_talk_begin(store_talk_t *t, const store_cluster_hooks_t *hooks,
                     int fd, int asks)
{
    const store_cluster_t *config = hooks->config;
    store_history_t mine;

    memset(t, 0, sizeof *t);
    t->asks = asks;
    t->stream = store_stream_make(fd, !asks,
                                  config->n_secret > 0 ? config->secret : NULL,
                                  config->n_secret);
    store_history_own(&mine);
    t->hello = store_hello_make(hooks, config->n_secret == 0, &mine,
                                asks ? STORE_WIRE_ASKS : 0, &t->size);
    t->heard = malloc(BYTES);
    if (t->stream && t->hello && t->heard)
        return 0;
    store_talk_end(t);
    errno = ENOMEM;
    return -1;
}

void store_talk_end(store_talk_t *t)
{
    store_stream_close(t->stream);
    free(t->hello);
    free(t->heard);
    memset(t, 0, sizeof *t);
}

/* @return 1: all is sent; 0; -1 */
static int say(store_talk_t *t)
{
    while (t->sent < t->size) {
        ssize_t n = store_stream_write(t->stream, t->hello + t->sent,
                                       t->size - t->sent);

        if (n <= 0)
            return errno == EAGAIN ? 0 : -1;
        t->sent += (size_t)n;
    }
    return 1;
}

/* @return 1: the hello is complete; 0: it is not; -1: it is none */
static int read_hello(store_talk_t *t)
{
    store_packet_t p;
    const char *key;
    int head = store_wire_head(t->heard, t->n, &p, &key);

    if (head < 0 || (head > 0 && p.opcode != STORE_WIRE_HELLO))
        return -1;
    if (head == 0 || t->n < (size_t)head + p.value)
        return 0;
    if (p.version != STORE_WIRE_VERSION ||
        store_hello_history(t->heard + head, p.value, &t->theirs) != 0)
        return -1;
    return 1;
}

/* @return as say() */
static int hear(store_talk_t *t)
{
    int is = read_hello(t);

    while (is == 0) {
        ssize_t n = store_stream_read(t->stream, t->heard + t->n, BYTES - t->n);

        if (n <= 0)
            return n < 0 && errno == EAGAIN ? 0 : -1;
        t->n += (size_t)n;
        is = read_hello(t);
    }
    return is;
}

int store_talk_step(store_talk_t *t)
{
    int rv;

    if (store_stream_handshake(t->stream) != 0)
        return errno == EAGAIN ? 0 : -1;
    rv = t->asks ? say(t) : hear(t);
    if (rv <= 0)
        return rv;
    return t->asks ? hear(t) : say(t);
}
