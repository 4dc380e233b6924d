/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/greeting.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock_ms.h"
#include "store/cluster/hello.h"
#include "store/memory/space.h"
#include "store/note.h"

#define SILENCE 2000 /* ms: then it is a yrmcds */

/* Wait until the stream is ready. @return 0; -1: it is too late, or an error */
static int wait_until(const store_stream_t *stream, int64_t until)
{
    struct pollfd p = {store_stream_fd(stream), store_stream_events(stream), 0};
    int64_t ms = until - clock_ms();

    if (errno != EAGAIN)
        return -1;
    if (ms <= 0 || poll(&p, 1, (int)ms) == 0) {
        errno = ETIMEDOUT;
        return -1;
    }
    return 0;
}

/* @return bytes; 0: the end; -1: ETIMEDOUT and others */
static ssize_t read_some(store_stream_t *stream, void *to, size_t n,
                         int64_t until)
{
    ssize_t got;

    do
        got = store_stream_read(stream, to, n);
    while (got < 0 && wait_until(stream, until) == 0);
    return got;
}

static int read_all(store_stream_t *stream, char *to, size_t n, int64_t until,
                    const char **why)
{
    while (n > 0) {
        ssize_t got = read_some(stream, to, n, until);

        if (got <= 0) {
            *why = "its hello is not complete";
            return -1;
        }
        to += got;
        n -= (size_t)got;
    }
    return 0;
}

static int shake_hands(store_stream_t *stream, int64_t until, const char **why)
{
    while (store_stream_handshake(stream) != 0)
        if (wait_until(stream, until) != 0) {
            *why = errno == EPROTO ? "it does not know the secret (AppStoreKey)"
                                   : "it does not finish the handshake of TLS";
            return -1;
        }
    return 0;
}

/* The first byte is in bytes[0]. */
static int take_hello(store_stream_t *stream, char *bytes, int64_t until,
                      store_greeting_t *g, const char **why)
{
    const size_t size = STORE_PACKET_HEAD + 12;
    store_packet_t p;
    const char *key;

    if (read_all(stream, bytes + 1, size - 1, until, why) != 0)
        return -1;
    if (store_wire_head(bytes, size, &p, &key) != (int)size ||
        p.opcode != STORE_WIRE_HELLO || p.version == 0) {
        *why = "it has sent no hello";
        return -1;
    }
    g->ours = 1;
    g->version = p.version;
    g->clock = (int64_t)p.number;
    if (read_all(stream, g->spaces, p.value, until, why) != 0)
        return -1;
    if (store_hello_history(g->spaces, p.value, &g->history) == 0)
        return 0;
    *why = "its history is damaged";
    return -1;
}

int store_greeting_take(store_stream_t *stream, int has_secret,
                        unsigned timeout, store_greeting_t *g, const char **why)
{
    int64_t now = clock_ms(), until = now + (int64_t)timeout * 1000;
    char bytes[STORE_PACKET_HEAD + 12];
    ssize_t n;

    memset(g, 0, sizeof *g);
    if (shake_hands(stream, until, why) != 0)
        return -1;
    n = read_some(stream, bytes, 1,
                  has_secret || until < now + SILENCE ? until : now + SILENCE);
    if (n == 1 && bytes[0] != '\0')
        return take_hello(stream, bytes, until, g, why);
    if (!has_secret && (n == 1 || (n < 0 && errno == ETIMEDOUT)))
        return 0;
    *why = n == 0 ? "it has closed the connection" : "it has sent no hello";
    return -1;
}

uint64_t store_greeting_size(const store_greeting_t *g, const char *name)
{
    size_t length = strlen(name);
    const char *line = g->spaces;

    while (*line != '\0') {
        const char *end = strchr(line, '\n');

        if (strncmp(line, name, length) == 0 && line[length] == ' ')
            return strtoull(line + length + 1, NULL, 10);
        if (!end)
            break;
        line = end + 1;
    }
    return 0;
}

static void compare_spaces(const store_greeting_t *g,
                           store_space_t *const *spaces, unsigned n,
                           const char *slave)
{
    unsigned i, smaller = 0;
    const char *first = NULL;

    for (i = 0; i < n; i++)
        if (store_greeting_size(g, spaces[i]->name) <
            STORE_GET(spaces[i]->figures->size)) {
            first = first ? first : spaces[i]->name;
            smaller++;
        }
    if (smaller > 0)
        store_note(STORE_WARN,
                   "slave %s has no room for all: %u of %u spaces are smaller "
                   "there or not there, the first is %s (AppStore)",
                   slave, smaller, n, first);
}

void store_greeting_compare(const store_greeting_t *g,
                            store_space_t *const *spaces, unsigned n,
                            const char *name)
{
    int64_t apart = g->clock - time(NULL);

    compare_spaces(g, spaces, n, name);
    if (apart > 2 || apart < -2)
        store_note(STORE_WARN,
                   "the clock of slave %s is %lld s apart: a time of day at "
                   "which a client lets an item expire changes with the "
                   "master",
                   name, (long long)apart);
}

int store_greeting_send(store_slave_link_t *out, store_space_t *const *spaces,
                        unsigned n, const store_history_t *history)
{
    size_t size;
    unsigned char *hello = store_hello_of(spaces, n, history, 0, &size);
    int rv;

    if (!hello) {
        out->why = "no memory";
        return -1;
    }
    rv = store_slave_link_put(out, hello, size);
    free(hello);
    return rv;
}
