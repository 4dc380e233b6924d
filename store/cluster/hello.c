/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/hello.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock_ms.h"
#include "store/memory/space.h"
#include "store/note.h"

#define CLOCKS 2 /* s that they may be apart */

unsigned char *store_hello_of(store_space_t *const *spaces, unsigned n,
                              const store_history_t *history, uint32_t bits,
                              size_t *size)
{
    store_packet_t p = {.opcode = STORE_WIRE_HELLO,
                        .version = STORE_WIRE_VERSION,
                        .bits = bits,
                        .number = (uint64_t)time(NULL)};
    char list[STORE_WIRE_HELLO_MAX + 1];
    unsigned char *hello = malloc(STORE_WIRE_SMALL_MAX + sizeof list);
    unsigned i;

    if (!hello)
        return NULL;
    for (i = 0; i < n; i++)
        p.value += (uint32_t)snprintf(
            list + p.value, sizeof list - p.value, "%.*s %llu\n",
            STORE_NAME - 1, spaces[i]->name,
            (unsigned long long)STORE_GET(spaces[i]->figures->size));
    if (history->n > 0) {
        list[p.value++] = '\0';
        p.value += (uint32_t)store_wire_put_history(
            history, (unsigned char *)list + p.value);
    }
    *size = store_wire_put(&p, "", hello);
    memcpy(hello + *size, list, p.value);
    *size += p.value;
    return hello;
}

/* Those that a master may have. @return how many */
static unsigned shared(const store_cluster_hooks_t *hooks, int is_plain,
                       store_space_t *to[STORE_SPACES])
{
    unsigned i, n = store_cluster_spaces(hooks, to), kept = 0;

    for (i = 0; i < n; i++)
        if (!is_plain || store_cluster_is_open(hooks->config, to[i]->name))
            to[kept++] = to[i];
    return kept;
}

unsigned char *store_hello_make(const store_cluster_hooks_t *hooks,
                                int is_plain, const store_history_t *history,
                                uint32_t bits, size_t *n)
{
    store_space_t *spaces[STORE_SPACES];
    unsigned count = shared(hooks, is_plain, spaces);

    return store_hello_of(spaces, count, history, bits, n);
}

static size_t list_size(const char *value, size_t n)
{
    const char *end = n > 0 ? memchr(value, '\0', n) : NULL;

    return end ? (size_t)(end - value) : n;
}

int store_hello_history(const char *value, size_t n, store_history_t *to)
{
    size_t list = list_size(value, n);

    if (list < n)
        return store_wire_history(value + list + 1, n - list - 1, to);
    memset(to, 0, sizeof *to);
    return 0;
}

/* ---- a line of the list ---- */

/* The newline ends it. */
static uint64_t number(const char *at)
{
    uint64_t n = 0;

    for (; *at >= '0' && *at <= '9' && n < UINT64_MAX / 16; at++)
        n = n * 10 + (uint64_t)(*at - '0');
    return n;
}

/* @return the rest of the list; NULL: there is no such line any more */
static const char *next_line(const char *at, const char *end,
                             char name[STORE_NAME], uint64_t *size)
{
    const char *newline, *space;
    size_t i;

    if (at >= end || !(newline = memchr(at, '\n', (size_t)(end - at))))
        return NULL;
    space = memrchr(at, ' ', (size_t)(newline - at));
    if (!space || space == at || space - at >= STORE_NAME)
        return NULL;
    memset(name, 0, STORE_NAME);
    for (i = 0; i < (size_t)(space - at); i++)
        name[i] = at[i] > ' ' && at[i] < 0x7f ? at[i] : '?';
    *size = number(space + 1);
    return newline + 1;
}

static int has(const char *list, size_t n, const char *wanted)
{
    const char *at = list;
    char name[STORE_NAME];
    uint64_t size;

    while ((at = next_line(at, list + n, name, &size)))
        if (strcmp(name, wanted) == 0)
            return 1;
    return 0;
}

/* ---- what differs ---- */

static void compare_clocks(uint64_t theirs)
{
    int64_t apart = (int64_t)(theirs - (uint64_t)time(NULL));

    if (apart > CLOCKS || apart < -CLOCKS)
        store_note(STORE_WARN,
                   "the clocks of this host and of the master are %lld s "
                   "apart: a time of day at which a client lets an item "
                   "expire changes with the master",
                   (long long)(apart < 0 ? -apart : apart));
}

static void compare_sizes(const store_cluster_hooks_t *hooks, const char *list,
                          size_t n)
{
    const char *at = list;
    char name[STORE_NAME], first[STORE_NAME] = "";
    const store_space_t *space;
    uint64_t size, here;
    unsigned absent = 0;

    while ((at = next_line(at, list + n, name, &size))) {
        space = hooks->find(name);
        here = space ? STORE_GET(space->figures->size) : 0;
        if (!space && absent++ == 0)
            memcpy(first, name, sizeof first);
        if (space && here < size)
            store_note(STORE_WARN,
                       "space %s has %llu bytes here and %llu at the master: "
                       "what fits is kept",
                       name, (unsigned long long)here,
                       (unsigned long long)size);
    }
    if (absent > 0)
        store_note(STORE_WARN,
                   "the master has %u space%s that %s not here (%s): %s items "
                   "are not kept",
                   absent, absent == 1 ? "" : "s", absent == 1 ? "is" : "are",
                   first, absent == 1 ? "its" : "their");
}

void store_hello_compare(const store_cluster_hooks_t *hooks, int is_plain,
                         const store_packet_t *p, const char *list)
{
    store_space_t *spaces[STORE_SPACES];
    unsigned i, n = shared(hooks, is_plain, spaces);
    size_t size = list_size(list, p->value);

    compare_clocks(p->number);
    compare_sizes(hooks, list, size);
    for (i = 0; i < n; i++)
        if (!has(list, size, spaces[i]->name))
            store_note(STORE_WARN,
                       "space %s is not at the master: it is empty while this "
                       "host is a slave",
                       spaces[i]->name);
}

/* ---- what a slave says first ---- */

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

static int read_whole(store_stream_t *stream, char *to, size_t n, int64_t until,
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

    if (read_whole(stream, bytes + 1, size - 1, until, why) != 0)
        return -1;
    if (store_wire_head(bytes, size, &p, &key) != (int)size ||
        p.opcode != STORE_WIRE_HELLO || p.version == 0) {
        *why = "it has sent no hello";
        return -1;
    }
    g->ours = 1;
    g->version = p.version;
    g->clock = (int64_t)p.number;
    if (read_whole(stream, g->spaces, p.value, until, why) != 0)
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
