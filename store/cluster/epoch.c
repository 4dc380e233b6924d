/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/epoch.h"

#include "store/atomic.h"

/* ---- write ---- */

/* The id first: a kill before the position leaves a second entry of this id,
 * and the first one counts, as in all that compares histories. */
static void move(store_history_t *h, uint32_t from, uint32_t to)
{
    STORE_SET_RELEASE(h->epoch[to].id, STORE_GET_ACQUIRE(h->epoch[from].id));
    STORE_SET_RELEASE(h->epoch[to].position,
                      STORE_GET_ACQUIRE(h->epoch[from].position));
}

/* Each epoch is in the next place before its own place is written. */
static void shift(store_history_t *h)
{
    uint32_t i, n = STORE_GET_ACQUIRE(h->n);

    if (n < STORE_EPOCHS) {
        move(h, n - 1, n);
        STORE_SET_RELEASE(h->n, n + 1);
    }
    for (i = n - 1; i > 0; i--)
        move(h, i - 1, i);
}

/* Has somebody data of the present epoch? One without an id is left by a kill
 * inside of the beginning of the next one. */
static int must_stay(const store_history_t *h)
{
    uint32_t n = STORE_GET_ACQUIRE(h->n);

    return n == 1 || (n > 1 && STORE_GET_ACQUIRE(h->epoch[0].id) != 0 &&
                      STORE_GET_ACQUIRE(h->epoch[0].position) > 0);
}

void store_epoch_begin(store_history_t *h, uint64_t id, uint32_t flags)
{
    STORE_SET_RELEASE(h->flags, STORE_GET_ACQUIRE(h->flags) | flags);
    if (must_stay(h))
        shift(h);
    STORE_SET_RELEASE(h->epoch[0].id, 0);
    STORE_SET_RELEASE(h->epoch[0].position, 0);
    STORE_SET_RELEASE(h->epoch[0].id, id);
    if (STORE_GET_ACQUIRE(h->n) == 0)
        STORE_SET_RELEASE(h->n, 1);
    STORE_SET_RELEASE(h->number, STORE_GET_ACQUIRE(h->number) + 1);
}

void store_epoch_clear(store_history_t *h)
{
    STORE_SET_RELEASE(h->n, 0);
    STORE_SET_RELEASE(h->flags, 0);
}

void store_epoch_adopt(store_history_t *h, const store_history_t *from)
{
    uint32_t i;

    store_epoch_clear(h);
    STORE_SET_RELEASE(h->number, from->number);
    STORE_SET_RELEASE(h->flags, from->flags);
    for (i = 0; i < from->n; i++) {
        STORE_SET_RELEASE(h->epoch[i].id, from->epoch[i].id);
        STORE_SET_RELEASE(h->epoch[i].position, from->epoch[i].position);
    }
    STORE_SET_RELEASE(h->n, from->n);
}

/* ---- compare ---- */

/* @return its place; n: it is not known, or is no epoch */
static uint32_t find(const store_history_t *h, uint64_t id)
{
    uint32_t i;

    if (id == 0)
        return h->n;
    for (i = 0; i < h->n && h->epoch[i].id != id; i++)
        ;
    return i;
}

/* A number that another host has sent may be anything. */
static uint64_t add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Changes of the epochs before that place, which are newer. */
static uint64_t newer(const store_history_t *h, uint32_t place)
{
    uint64_t sum = 0;
    uint32_t i;

    for (i = 0; i < place; i++)
        if (find(h, h->epoch[i].id) == i)
            sum = add(sum, h->epoch[i].position);
    return sum;
}

uint64_t store_epoch_changes(const store_history_t *h)
{
    return newer(h, h->n);
}

int store_epoch_contains(const store_history_t *h, uint64_t id,
                         uint64_t position)
{
    uint32_t i = find(h, id);

    return i < h->n && position <= h->epoch[i].position;
}

store_relation_t store_epoch_compare(const store_history_t *mine,
                                     const store_history_t *theirs)
{
    store_relation_t r = {0, store_epoch_changes(mine),
                          store_epoch_changes(theirs)};
    uint32_t i, k;

    for (i = 0; i < mine->n; i++) {
        uint64_t here = mine->epoch[i].position, there;

        k = find(theirs, mine->epoch[i].id);
        if (k == theirs->n)
            continue;
        there = theirs->epoch[k].position;
        r.is_related = 1;
        r.mine = add(newer(mine, i), here > there ? here - there : 0);
        r.theirs = add(newer(theirs, k), there > here ? there - here : 0);
        break;
    }
    return r;
}

/* ---- decide ---- */

/* 1: only mine has the flag; -1: only theirs. */
static int only(const store_history_t *mine, const store_history_t *theirs,
                uint32_t flag)
{
    return ((mine->flags & flag) != 0) - ((theirs->flags & flag) != 0);
}

static store_join_t join_related(const store_relation_t *r)
{
    return r->mine == 0           ? STORE_JOIN_NEWER
           : r->mine <= r->theirs ? STORE_JOIN_GIVES
                                  : STORE_KEEP_MORE;
}

store_join_t store_epoch_join(const store_history_t *mine,
                              const store_history_t *theirs,
                              store_relation_t *relation)
{
    int incomplete = only(mine, theirs, STORE_HISTORY_INCOMPLETE);

    *relation = store_epoch_compare(mine, theirs);
    if (mine->n == 0)
        return STORE_JOIN_NOTHING;
    if (theirs->n == 0)
        return STORE_KEEP_OTHER;
    if (incomplete != 0)
        return incomplete < 0       ? STORE_KEEP_WHOLE
               : relation->mine > 0 ? STORE_JOIN_GIVES
                                    : STORE_JOIN_NEWER;
    if (relation->is_related)
        return join_related(relation);
    if ((mine->flags & STORE_HISTORY_EMPTY) && relation->mine == 0)
        return STORE_JOIN_NEWER;
    return only(mine, theirs, STORE_HISTORY_CONTESTED) > 0 ? STORE_JOIN_GIVES
                                                           : STORE_KEEP_OTHER;
}

int store_epoch_is_better(const store_history_t *theirs,
                          const store_history_t *mine)
{
    store_relation_t r;

    return theirs->n > 0 &&
           !store_epoch_keeps(store_epoch_join(mine, theirs, &r)) &&
           store_epoch_keeps(store_epoch_join(theirs, mine, &r));
}

/* Two hosts that have nothing in common would give the address to each other
 * for ever, if each one were better. */
store_claim_t store_epoch_claim(const store_history_t *claimed,
                                const store_history_t *master)
{
    store_relation_t r;
    store_join_t join = store_epoch_join(claimed, master, &r);

    if (!store_epoch_keeps(join))
        return STORE_CLAIM_NONE;
    if (join != STORE_KEEP_OTHER)
        return STORE_CLAIM_BETTER;
    if (only(claimed, master, STORE_HISTORY_CONTESTED) < 0)
        return STORE_CLAIM_OLDER;
    return (master->flags & STORE_HISTORY_EMPTY) && r.mine > r.theirs
               ? STORE_CLAIM_OLDER
               : STORE_CLAIM_NONE;
}
