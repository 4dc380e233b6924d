/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/memory/large_evict.h"

#include <stddef.h>

#include "store/clock.h"
#include "store/memory/chunk.h"
#include "store/memory/evict.h"

#define CANDIDATES 64 /* a space with less has them all in this number */

int store_large_evict(store_space_t *space)
{
    uint32_t now = store_clock();
    store_evict_why_t why =
        STORE_GET(space->evict) ? STORE_EVICT_LARGE : STORE_EVICT_DEAD;
    store_item_t *oldest = NULL, *first = NULL, *item;
    int n;

    if (!store_large_exceed(space))
        return 0;
    for (n = 0; n < CANDIDATES; n++) {
        item = store_large_next(space);
        if (!item || item == first)
            break;
        first = first ? first : item;
        if (!store_evict_is_unused(item))
            continue;
        if (store_evict_item(space, item, now, STORE_EVICT_DEAD))
            return 1;
        if (!oldest || store_evict_is_older(item, oldest))
            oldest = item;
    }
    return oldest && store_evict_item(space, oldest, now, why);
}
