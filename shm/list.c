/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/list.h"

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

/* Make a list of a chain, which ends with 0. */
static void close_ring(apl_pool_t *pool, apl_link_t *head, uint32_t at,
                       uint32_t bound)
{
    uint32_t end = APL_OFFSET(pool, head), prev = end;
    apl_link_t *last = head;

    for (; at != 0 && bound > 0; bound--) {
        apl_link_t *link = apl_link_at(pool, at);

        last->next = at;
        link->prev = prev;
        prev = at;
        at = link->next;
        last = link;
    }
    last->next = end;
    head->prev = prev;
    if (at != 0) {
        pool->damaged = 1;
        apl_list_init(pool, head);
    }
}

void apl_list_sort(apl_pool_t *pool, apl_link_t *head, uint32_t bound,
                   apl_list_key_t *key)
{
    /* runs[i]: a sorted chain of 2^i links, as the digits of a binary number
     * that counts the links taken so far. */
    uint32_t runs[32] = {0};
    uint32_t end = APL_OFFSET(pool, head);
    uint32_t at, next, i, left = bound;

    for (at = head->next; at != end && left > 0; at = next, left--) {
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
    if (at != end)
        pool->damaged = 1;
    for (at = 0, i = 0; i < 32; i++)
        at = merge(pool, runs[i], at, bound, key);
    close_ring(pool, head, at, bound);
}
