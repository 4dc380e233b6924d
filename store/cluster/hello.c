/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/hello.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

    return store_hello_of(spaces, shared(hooks, is_plain, spaces), history,
                          bits, n);
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
