/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/copier.h"

#include <stdlib.h>
#include <string.h>

#include "store/clock.h"
#include "store/memory/item.h"

#define ROOM    256
#define BUCKETS 4096 /* at once, if they have few items */
/* A value that is held cannot be evicted. So few bytes are held while a slow
 * slave takes them, also in a small space. */
#define BYTES   (64 * 1024)

int store_copier_open(store_copier_t *c)
{
    memset(c, 0, sizeof *c);
    c->room = ROOM;
    c->taken = calloc(c->room, sizeof(store_item_t *));
    return c->taken ? 0 : -1;
}

unsigned store_copier_add(store_copier_t *c, store_space_t *space)
{
    unsigned i;

    for (i = 0; i < c->n_spaces; i++)
        if (c->space[i] == space)
            return 0;
    if (i == STORE_SPACES)
        return 0;
    c->space[c->n_spaces++] = space;
    return 1;
}

void store_copier_close(store_copier_t *c)
{
    free(c->taken);
    c->taken = NULL;
}

/* Under the lock of the bucket. */
static void take(void *ctx, const store_item_t *item)
{
    store_copier_t *c = ctx;

    c->is_full |= c->n == c->room;
    if (c->is_full)
        return;
    c->taken[c->n] = (store_item_t *)(uintptr_t)item;
    store_item_keep(c->taken[c->n++]);
    c->bytes += item->length;
}

static void give_back(store_copier_t *c, unsigned from)
{
    while (c->n > from)
        store_item_release(c->space[c->at], c->taken[--c->n]);
}

/* @return 0: no memory, so the items of the bucket are not sent */
static int make_room(store_copier_t *c)
{
    store_item_t **more =
        realloc(c->taken, 2 * c->room * sizeof(store_item_t *));

    if (!more)
        return 0;
    c->taken = more;
    c->room *= 2;
    return 1;
}

/* @return 0: that was the last bucket of the space; -1: no memory */
static int take_bucket(store_copier_t *c)
{
    unsigned before = c->n;
    uint32_t bucket = c->bucket;
    int more = store_index_walk(c->space[c->at], &c->bucket, 1, take, c);

    if (!c->is_full)
        return more;
    /* Once more, with all its items. */
    c->is_full = 0;
    give_back(c, before);
    c->bucket = bucket;
    return make_room(c) ? 1 : -1;
}

static int is_present(const store_space_t *space, const store_item_t *item)
{
    return store_state(item) == STORE_LIVE && !store_flushed(space, item) &&
           !store_expired(item, store_clock());
}

static int send_taken(store_copier_t *c, store_sender_t *to)
{
    const store_space_t *space = c->space[c->at];
    unsigned i;
    int rv = 0;

    for (i = 0; i < c->n && rv == 0; i++)
        if (is_present(space, c->taken[i])) {
            rv = store_sender_item(to, space, c->taken[i]);
            c->items++;
        }
    give_back(c, 0);
    c->bytes = 0;
    return rv;
}

int store_copier_run(store_copier_t *c, store_sender_t *to)
{
    unsigned buckets;
    int more = 1;

    if (store_copier_is_done(c))
        return 0;
    if (c->bucket == 0 && store_sender_space(to, c->space[c->at]) != 0)
        return -1;
    for (buckets = 0;
         more > 0 && buckets < BUCKETS && c->n < ROOM && c->bytes < BYTES;
         buckets++)
        more = take_bucket(c);
    if (more < 0)
        to->out.why = "no memory";
    if (send_taken(c, to) != 0 || more < 0)
        return -1;
    if (!more) {
        c->at++;
        c->bucket = 0;
    }
    return 0;
}
