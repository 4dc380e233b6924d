/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/relay_pipe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* @return bytes that the end took; an end that is gone takes all */
static size_t put(store_relay_end_t *to, const char *from, size_t n)
{
    size_t done = 0;
    ssize_t got;

    while (done < n && to->writable && !to->gone) {
        got = store_stream_write(to->stream, from + done, n - done);
        if (got > 0)
            done += (size_t)got;
        else if (errno == EAGAIN)
            to->writable = 0;
        else
            to->gone = 1;
    }
    return to->gone ? n : done;
}

static void put_rest(store_relay_pipe_t *p, store_relay_end_t *to)
{
    p->at += put(to, p->rest + p->at, p->n_rest - p->at);
    if (p->at < p->n_rest)
        return;
    free(p->rest);
    p->rest = NULL;
}

static int keep(store_relay_pipe_t *p, const char *from, size_t n)
{
    p->rest = malloc(n);
    if (!p->rest)
        return -1;
    memcpy(p->rest, from, n);
    p->at = 0;
    p->n_rest = n;
    return 0;
}

/* @return bytes; 0: none for now, or no more at all */
static size_t take(store_relay_pipe_t *p, store_relay_end_t *from, char *buffer)
{
    ssize_t got = store_stream_read(from->stream, buffer, STORE_RELAY_BUFFER);

    if (got > 0) {
        p->passed += (uint64_t)got;
        return (size_t)got;
    }
    from->readable = 0;
    if (got == 0 || errno != EAGAIN)
        p->ended = 1;
    return 0;
}

int store_relay_pipe_turn(store_relay_pipe_t *p, store_relay_end_t *from,
                          store_relay_end_t *to, char *buffer)
{
    size_t n, done;
    int i;

    for (i = 0; i < STORE_RELAY_TURN; i++) {
        if (p->rest)
            put_rest(p, to);
        if (p->rest)
            return 0;
        n = p->ended || !from->readable ? 0 : take(p, from, buffer);
        if (n == 0)
            return 0;
        done = put(to, buffer, n);
        if (done < n && keep(p, buffer + done, n - done) != 0)
            return -1;
    }
    return 1;
}

int store_relay_pipe_is_over(const store_relay_pipe_t *p)
{
    return p->ended && !p->rest;
}
