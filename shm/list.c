/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/list.h"

/* Merge two chains that end with 0, by next only. */
static uint32_t merge(apl_pool_t *pool, uint32_t a, uint32_t b,
                      apl_list_key_t *key)
{
    apl_link_t first = {0, 0};
    apl_link_t *last = &first;

    while (a != 0 && b != 0) {
        uint32_t *from = key(pool, b) < key(pool, a) ? &b : &a;

        last->next = *from;
        last = apl_link_at(pool, *from);
        *from = last->next;
    }
    last->next = a != 0 ? a : b;
    return first.next;
}

void apl_list_sort(apl_pool_t *pool, apl_link_t *head, apl_list_key_t *key)
{
    /* runs[i]: a sorted chain of 2^i links, as the digits of a binary number
     * that counts the links taken so far. */
    uint32_t runs[32] = {0};
    uint32_t end = APL_OFFSET(pool, head);
    uint32_t at, next, i, prev;

    for (at = head->next; at != end; at = next) {
        apl_link_t *link = apl_link_at(pool, at);
        uint32_t chain = at;

        next = link->next;
        link->next = 0;
        for (i = 0; i < 31 && runs[i] != 0; i++) {
            chain = merge(pool, runs[i], chain, key);
            runs[i] = 0;
        }
        runs[i] = chain;
    }
    for (at = 0, i = 0; i < 32; i++)
        at = merge(pool, runs[i], at, key);

    head->next = at != 0 ? at : end;
    for (prev = end; at != 0; prev = at, at = next) {
        apl_link_t *link = apl_link_at(pool, at);

        next = link->next;
        link->prev = prev;
        if (next == 0)
            link->next = end;
    }
    head->prev = prev;
}
