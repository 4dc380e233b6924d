/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/hold.h"

#include "store/memory/changes.h"

/* A write has changed nothing if this thread has added no change. */
void store_hold_begin(store_hold_t *h, const store_space_t *space,
                      uint64_t before, unsigned writes)
{
    uint64_t now = store_changes_mine();

    if (writes == 0 || now == before ||
        STORE_GET(space->confirm) == STORE_CONFIRM_OFF)
        return;
    h->position = now;
    h->writes = writes;
}

int store_hold_ends(const store_hold_t *h, const store_space_t *space,
                    const store_confirmed_t *all)
{
    return h->position <= (STORE_GET(space->confirm) == STORE_CONFIRM_REFUSE
                               ? all->strict
                               : all->known);
}

int store_hold_end(store_hold_t *h, const store_space_t *space,
                   store_counters_t *counters, const store_confirmed_t *all)
{
    int refuses = STORE_GET(space->confirm) == STORE_CONFIRM_REFUSE;
    int is_confirmed =
        all->strict != STORE_CONFIRM_NONE && h->position <= all->strict;

    h->position = 0;
    if (is_confirmed)
        return 0;
    store_count(counters, refuses ? STORE_NOT_CONFIRMED : STORE_UNCONFIRMED,
                h->writes);
    return refuses ? -1 : 0;
}
