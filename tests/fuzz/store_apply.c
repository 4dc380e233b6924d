/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What a slave applies: any stream of a master, in any pieces. It ends, stays
 * in bounds, and leaves a space in which all invariants hold.
 *
 * Input: decisions. They make packets, most of which are right, because
 * otherwise the first one would end the stream. */

#include "store/cluster/apply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store/cluster/wire.h"
#include "store/memory/region.h"
#include "tests/fuzz/dice.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/support/notes.h"
#include "tests/unit/support/shelf.h"

#define PAGES   2
#define LONGEST 20000
#define LONG_NAME                                                              \
    "a-name-that-is-longer-than-the-name-of-any-space-may-be-in-any-store"

static shelf_t shelf;
static store_cluster_t config;
static unsigned generation;

/* ---- what a slave calls ---- */

static store_space_t *find(const char *name)
{
    return strcmp(name, "shop") == 0 ? shelf.space : NULL;
}

static store_space_t *nth(unsigned n)
{
    return n == 0 ? shelf.space : NULL;
}

static unsigned get_generation(void)
{
    return generation;
}

static const store_cluster_hooks_t hooks = {
    .config = &config, .find = find, .nth = nth, .generation = get_generation};

/* ---- the stream ---- */

typedef struct {
    char bytes[8 * LONGEST];
    size_t n;
} stream_t;

static uint64_t any_number(dice_t *d)
{
    switch (dice(d, 8)) {
    case 0:
        return UINT64_MAX - dice(d, 3);
    case 1:
        return (uint64_t)INT64_MAX + dice(d, 3);
    default:
        return dice(d, 1000);
    }
}

/* s since 1970, or from now: long ago, soon, later. */
static uint32_t any_time(dice_t *d)
{
    uint32_t now = (uint32_t)time(NULL);

    switch (dice(d, 5)) {
    case 0:
        return now + 1000;
    case 4:
        return 1000;
    case 1:
        return dice(d, 2) ? 1 : UINT32_MAX;
    default:
        return 0;
    }
}

static uint32_t any_length(dice_t *d)
{
    switch (dice(d, 8)) {
    case 0:
        return dice(d, 2 * LONGEST);
    case 1:
        return dice(d, 3) ? LONGEST : LONGEST + 1;
    default:
        return dice(d, 300);
    }
}

/* What its form has no room for is not put. */
static void fill_packet(dice_t *d, store_packet_t *p)
{
    static const uint8_t kinds[] = {STORE_WIRE_SET,     STORE_WIRE_SET,
                                    STORE_WIRE_SET,     STORE_WIRE_DELETE,
                                    STORE_WIRE_TOUCH,   STORE_WIRE_SPACE,
                                    STORE_WIRE_FLUSHED, STORE_WIRE_COMPLETE,
                                    STORE_WIRE_MARK,    STORE_WIRE_BYE};

    memset(p, 0, sizeof *p);
    p->opcode = dice(d, 32) ? kinds[dice(d, sizeof kinds)] : STORE_WIRE_HELLO;
    p->version = dice(d, 16) ? STORE_WIRE_VERSION : dice(d, UINT32_MAX);
    p->bits = dice(d, 4) ? 0 : dice(d, 256);
    p->cas = p->number = any_number(d);
    p->flags = dice(d, 1000);
    p->exptime = any_time(d);
    if (p->opcode == STORE_WIRE_SET)
        p->value = any_length(d);
}

static void put_key(dice_t *d, store_packet_t *p, char key[STORE_KEY_MAX])
{
    static const char *const keys[] = {"a", "b", "c", "longer"};
    static const char *const spaces[] = {"shop", "shop", "blog", "\001"};
    const char *text =
        p->opcode == STORE_WIRE_SPACE ? spaces[dice(d, 4)] : keys[dice(d, 4)];

    memset(key, 'k', STORE_KEY_MAX);
    p->klen = (uint8_t)strlen(text);
    memcpy(key, text, p->klen);
    if (p->opcode != STORE_WIRE_SPACE && dice(d, 16) == 0)
        p->klen = STORE_KEY_MAX;
    if (p->opcode == STORE_WIRE_HELLO || p->opcode == STORE_WIRE_COMPLETE ||
        p->opcode == STORE_WIRE_FLUSHED || p->opcode == STORE_WIRE_MARK ||
        p->opcode == STORE_WIRE_BYE)
        p->klen = 0;
}

static void put_value(dice_t *d, stream_t *to, uint32_t n)
{
    memset(to->bytes + to->n, 'a' + (int)dice(d, 26), n);
    to->n += n;
}

/* Few epochs, so that two histories have some in common. */
static void make_history(dice_t *d, store_history_t *h)
{
    uint32_t i;

    memset(h, 0, sizeof *h);
    h->number = dice(d, 4);
    h->flags = dice(d, 8);
    h->n = dice(d, 16) ? dice(d, 4) : STORE_EPOCHS;
    for (i = 0; i < h->n; i++)
        h->epoch[i] = (store_epoch_t){1 + dice(d, 4), any_number(d)};
}

static void put_history(dice_t *d, store_packet_t *p, char *list)
{
    unsigned char *to = (unsigned char *)list + p->value + 1;
    store_history_t theirs;

    make_history(d, &theirs);
    list[p->value] = '\0';
    p->value += 1 + (uint32_t)store_wire_put_history(&theirs, to);
}

static void put_hello(dice_t *d, stream_t *to)
{
    static const char *const lists[] = {
        "", "shop 1048576\n", "shop 99999999999999999999\nblog 1\n",
        "blog\n\n 1\nb\001g 2\nshop", LONG_NAME " 1\n"};
    char list[STORE_WIRE_HELLO_MAX + 1];
    store_packet_t p = {.opcode = STORE_WIRE_HELLO,
                        .version = STORE_WIRE_VERSION,
                        .number =
                            dice(d, 2) ? (uint64_t)time(NULL) : any_number(d)};

    strcpy(list, lists[dice(d, 5)]);
    p.value = (uint32_t)strlen(list);
    if (dice(d, 2))
        put_history(d, &p, list);
    to->n += store_wire_put(&p, "", (unsigned char *)to->bytes + to->n);
    memcpy(to->bytes + to->n, list, p.value);
    to->n += p.value;
}

static void put_packet(dice_t *d, stream_t *to)
{
    char key[STORE_KEY_MAX];
    store_packet_t p;

    fill_packet(d, &p);
    put_key(d, &p, key);
    to->n += store_wire_put(&p, key, (unsigned char *)to->bytes + to->n);
    put_value(d, to, p.value);
}

/* A yrmcds says no hello. */
static void make_stream(dice_t *d, stream_t *to)
{
    unsigned n = 1 + dice(d, 40);

    to->n = 0;
    if (dice(d, 8))
        put_hello(d, to);
    while (n-- > 0 && to->n + 2 * LONGEST + 1000 < sizeof to->bytes)
        put_packet(d, to);
    if (dice(d, 4) == 0)
        to->bytes[dice(d, (uint32_t)to->n)] ^= (char)(1 << dice(d, 8));
    if (dice(d, 4) == 0)
        to->n = dice(d, (uint32_t)to->n + 1);
}

/* ---- the slave ---- */

/* In memory of its own, so that a sanitizer sees its end. @return what is left,
 * or -1: the connection has to end */
static ssize_t input(store_apply_t *a, const char *bytes, size_t n)
{
    char *copy = malloc(n);
    ssize_t used;

    if (!copy)
        abort();
    memcpy(copy, bytes, n);
    used = store_apply_input(a, copy, n);
    free(copy);
    return used < 0 ? -1 : (ssize_t)n - used;
}

/* As the follower does. */
static void feed(store_apply_t *a, const stream_t *from, size_t piece)
{
    size_t at = 0, end = 0, room, part;
    ssize_t left;
    char *place;

    while (end < from->n) {
        place = at == end ? store_apply_room(a, &room) : NULL;
        part = from->n - end < piece ? from->n - end : piece;
        if (place) {
            part = part < room ? part : room;
            memcpy(place, from->bytes + end, part);
            store_apply_filled(a, part);
            at = end += part;
            continue;
        }
        end += part;
        left = input(a, from->bytes + at, end - at);
        if (left < 0)
            return;
        at = end - (size_t)left;
    }
}

static void begin(dice_t *d)
{
    if (!shelf.space) {
        shelf_open(&shelf, PAGES, 1);
        store_item_max = LONGEST;
    }
    store_space_empty(shelf.space, NULL);
    shelf.space->entry->cas = shelf.space->entry->flush_at = 0;
    shelf.space->entry->flushes = 0;
    make_history(d, &store_region_directory()->history);
    store_region_directory()->lacks = dice(d, 3);
    strcpy(config.open_space, dice(d, 4) ? "shop" : "");
    shelf_set(&shelf, "a", 1, 10, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static stream_t stream;
    dice_t d = {data, data + size};
    store_apply_t *a;
    int is_plain;

    begin(&d);
    is_plain = dice(&d, 4) == 0;
    a = store_apply_make(&hooks, is_plain, dice(&d, 2) == 0, NULL, NULL);
    if (!a)
        abort();
    make_stream(&d, &stream);
    feed(a, &stream, 1 + dice(&d, 2 * LONGEST));
    generation += dice(&d, 2);
    if (!store_apply_result(a)->has_begun && store_apply_is_short(a))
        abort();
    store_apply_free(a);
    shelf_check(&shelf);
    notes_clear();
    /* A master that may be anybody has no space here. */
    if (is_plain && !config.open_space[0] && !shelf_get(&shelf, "a", 1, 10))
        abort();
    return 0;
}
