/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/lru_touches.h"

#include <string.h>

#include "base/clock_ms.h"
#include "store/clock.h"
#include "store/memory/item.h"

#define BUCKETS    1024 /* at once, if they have few items that were read */
#define ENOUGH     64   /* of these */
#define SECOND     1000 /* ms */
#define USES       1024 /* in a second */
/* s from one turn of a space to the next */
#define REST       60
#define REST_LEAST 1

void store_lru_touches_begin(store_lru_touches_t *u)
{
    uint32_t now = store_clock();
    unsigned i;

    memset(u, 0, sizeof *u);
    for (i = 0; i < STORE_SPACES; i++)
        u->turn[i].from = u->turn[i].began = now;
}

/* A slave that hangs gets none: what its kernel takes would look like progress.
 * @return 0: nothing may be sent now */
static int may_send(store_lru_touches_t *u, const store_slave_link_t *out)
{
    int64_t now = clock_ms();

    if (now - u->second >= SECOND && out->heard != u->heard) {
        u->left = USES;
        u->second = now;
        u->heard = out->heard;
    }
    return u->left > 0;
}

/* ---- whose turn it is ---- */

static uint32_t rest(const store_space_t *space)
{
    uint64_t age = STORE_GET(space->figures->evicted_age) / 4;

    if (STORE_GET(space->figures->evictions) == 0 || age > REST)
        return REST;
    return age < REST_LEAST ? REST_LEAST : (uint32_t)age;
}

static int is_due(store_lru_touches_t *u, const store_space_t *space)
{
    store_lru_touches_turn_t *turn = &u->turn[space->slot];
    uint32_t now = store_clock();

    if (now - turn->began < rest(space))
        return 0;
    turn->from = turn->began;
    turn->began = now;
    return 1;
}

/* @return NULL: no space is due */
static store_space_t *choose(store_lru_touches_t *u,
                             store_space_t *const *spaces, unsigned n)
{
    unsigned i;

    if (u->bucket != 0)
        return spaces[u->at];
    for (i = 0; i < n; i++) {
        u->at = (u->at + 1) % n;
        if (is_due(u, spaces[u->at]))
            return spaces[u->at];
    }
    return NULL;
}

/* ---- a turn ---- */

typedef struct {
    store_lru_touches_t *uses;
    uint32_t from;
} taker_t;

/* Under the lock of the bucket. One that was only written has its place
 * already. What there is no room for is read again, or is not important. */
static void take(void *ctx, const store_item_t *item)
{
    taker_t *t = ctx;
    store_lru_touches_t *u = t->uses;

    if (u->n == STORE_LRU_TOUCHES_ROOM || STORE_GET(item->used) < t->from ||
        !(STORE_GET(item->bits) & STORE_FETCHED))
        return;
    u->taken[u->n] = (store_item_t *)(uintptr_t)item;
    store_item_keep(u->taken[u->n++]);
}

static int send_taken(store_lru_touches_t *u, const store_space_t *space,
                      store_sender_t *to)
{
    int rv = 0;

    u->left -= u->n < u->left ? u->n : u->left;
    while (u->n > 0) {
        store_item_t *item = u->taken[--u->n];

        if (rv == 0)
            rv = store_sender_touch(to, space, item);
        store_item_release((store_space_t *)(uintptr_t)space, item);
    }
    return rv;
}

int store_lru_touches_run(store_lru_touches_t *u, store_space_t *const *spaces,
                          unsigned n, store_sender_t *to)
{
    taker_t taker = {u, 0};
    store_space_t *space;
    unsigned buckets;
    int more = 1;

    if (!to->ours || !may_send(u, &to->out) || !(space = choose(u, spaces, n)))
        return 0;
    taker.from = u->turn[space->slot].from;
    for (buckets = 0; more && buckets < BUCKETS && u->n < ENOUGH; buckets++)
        more = store_index_walk(space, &u->bucket, 1, take, &taker);
    if (!more)
        u->bucket = 0;
    return send_taken(u, space, to) != 0 ? -1 : 1;
}
