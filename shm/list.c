/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/list.h"

#include <string.h>

#define HEAPS 2048 /* a long list is put on so many first */

/* Merge two chains that end with 0, by next only, and that have at most
 * `bound` links together. Whoever writes into them meanwhile does not keep us
 * here for longer. */
static uint32_t merge(apl_pool_t *pool, uint32_t a, uint32_t b, uint64_t bound,
                      apl_list_key_t *key)
{
    apl_link_t first = {0, 0};
    apl_link_t *last = &first;

    for (; a != 0 && b != 0 && bound > 0; bound--) {
        uint32_t *from = key(pool, b) < key(pool, a) ? &b : &a;

        last->next = *from;
        last = apl_link_at(pool, *from);
        *from = last->next;
    }
    last->next = a != 0 ? a : b;
    return first.next;
}

/* Sort a chain that ends with 0. */
static uint32_t sort_chain(apl_pool_t *pool, uint32_t at, uint32_t bound,
                           apl_list_key_t *key)
{
    /* runs[i]: a sorted chain of 2^i links, as the digits of a binary number
     * that counts the links taken so far. */
    uint32_t runs[32] = {0};
    uint32_t next, i, left = bound;

    for (; at != 0 && left > 0; at = next, left--) {
        apl_link_t *link = apl_link_at(pool, at);
        uint32_t chain = at;

        next = link->next;
        link->next = 0;
        for (i = 0; i < 31 && runs[i] != 0; i++) {
            chain = merge(pool, runs[i], chain, 2ull << i, key);
            runs[i] = 0;
        }
        runs[i] = chain;
    }
    for (at = 0, i = 0; i < 32; i++)
        at = merge(pool, runs[i], at, bound, key);
    return at;
}

/* ---- a whole list ---- */

/* What its keys are. */
typedef struct {
    uint64_t first, last; /* the smallest and the largest */
    uint32_t n;
    int sorted;
} range_t;

/* @return 0: it has more links than it can have */
static int measure(apl_pool_t *pool, const apl_link_t *head, uint32_t bound,
                   apl_list_key_t *key, range_t *range)
{
    uint32_t at, end = APL_OFFSET(pool, head);
    uint64_t before = 0;

    *range = (range_t){UINT64_MAX, 0, 0, 1};
    for (at = head->next; at != end && range->n < bound; range->n++) {
        uint32_t next = apl_link_at(pool, at)->next;
        uint64_t k = key(pool, at);

        range->first = k < range->first ? k : range->first;
        range->last = k > range->last ? k : range->last;
        range->sorted &= k >= before;
        before = k;
        at = next;
    }
    return at == end;
}

/* Chains of links whose keys are near each other, in the order of the keys. */
typedef struct {
    uint32_t n, shift;
    uint32_t first[HEAPS], last[HEAPS];
} heaps_t;

/* Put the links on heaps. Somebody may write meanwhile: so the list may end
 * early, and a key be another one. */
static void spread(apl_pool_t *pool, const apl_link_t *head,
                   const range_t *range, apl_list_key_t *key, heaps_t *heaps)
{
    uint32_t at = head->next, next, left = range->n;

    heaps->n = left > HEAPS ? HEAPS : 1;
    heaps->shift = 0;
    while (heaps->n > 1 &&
           (range->last - range->first) >> heaps->shift >= heaps->n)
        heaps->shift++;
    memset(heaps->first, 0, heaps->n * sizeof *heaps->first);
    for (; left > 0 && at != 0 && at != APL_OFFSET(pool, head);
         left--, at = next) {
        apl_link_t *link = apl_link_at(pool, at);
        uint64_t i = (key(pool, at) - range->first) >> heaps->shift;

        i = i < heaps->n ? i : heaps->n - 1;
        next = link->next;
        link->next = 0;
        if (heaps->first[i] == 0)
            heaps->first[i] = at;
        else
            apl_link_at(pool, heaps->last[i])->next = at;
        heaps->last[i] = at;
    }
}

/* The list has this chain next, up to which it is made already.
 * @param last the last link so far, or the head: moved on
 * @param left links that it may have yet */
static void attach(apl_pool_t *pool, uint32_t chain, uint32_t *last,
                   uint32_t *left)
{
    uint32_t next;

    for (; chain != 0 && *left > 0; chain = next, --*left) {
        apl_link_t *link = apl_link_at(pool, chain);

        next = link->next;
        link->prev = *last;
        apl_link_at(pool, *last)->next = chain;
        *last = chain;
    }
    if (chain != 0)
        pool->damaged = 1;
}

void apl_list_sort(apl_pool_t *pool, apl_link_t *head, uint32_t bound,
                   apl_list_key_t *key)
{
    uint32_t end = APL_OFFSET(pool, head), last = end, i;
    range_t range;
    heaps_t heaps;

    if (!measure(pool, head, bound, key, &range)) {
        pool->damaged = 1;
        apl_list_init(pool, head);
        return;
    }
    if (range.sorted)
        return;
    spread(pool, head, &range, key, &heaps);
    bound = range.n;
    for (i = 0; i < heaps.n; i++)
        if (heaps.first[i] != 0)
            attach(pool, sort_chain(pool, heaps.first[i], bound, key), &last,
                   &bound);
    apl_link_at(pool, last)->next = end;
    head->prev = last;
}
