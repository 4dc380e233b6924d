/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/command/holding.h"

#include <stdlib.h>

#define FIRST_ROOM 4

void store_holding_prepare(store_holdings_t *holdings)
{
    uint32_t room = holdings->room > 0 ? 2 * holdings->room : FIRST_ROOM;
    store_holding_t *all;

    if (holdings->n < holdings->room || holdings->room == STORE_HOLDINGS_MAX)
        return;
    all = realloc(holdings->all, room * sizeof *all);
    if (all) {
        holdings->all = all;
        holdings->room = room;
    }
}

store_holding_t *store_holding_find(const store_holdings_t *holdings,
                                    const store_counter_t *c)
{
    for (uint32_t i = 0; i < holdings->n; i++)
        if (holdings->all[i].counter == c)
            return &holdings->all[i];
    return NULL;
}

bool store_holding_add(store_holdings_t *holdings, store_counter_t *c,
                       uint32_t resources)
{
    store_holding_t *h = store_holding_find(holdings, c);

    if (h)
        h->resources += resources;
    else if (holdings->n == holdings->room)
        return false;
    else
        holdings->all[holdings->n++] = (store_holding_t){c, resources};
    return true;
}

void store_holding_reduce(store_holdings_t *holdings, store_holding_t *h,
                          uint32_t resources)
{
    h->resources -= resources;
    if (h->resources == 0)
        *h = holdings->all[--holdings->n];
}
