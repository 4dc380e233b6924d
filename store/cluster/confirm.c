/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/confirm.h"

#include "spawner/shared/clock_ms.h"
#include "store/figures.h"
#include "store/memory/extent.h"

static store_confirm_t slaves[STORE_FIGURES_SLAVES]; /* each field is atomic */

void store_confirm_joins(unsigned slot)
{
    STORE_SET(slaves[slot].left_at, 0);
    STORE_SET(slaves[slot].heard_at, clock_ms());
    STORE_SET(slaves[slot].is_member, 1);
}

void store_confirm_heard(unsigned slot, uint64_t position)
{
    STORE_SET(slaves[slot].heard_at, clock_ms());
    STORE_SET(slaves[slot].position, position);
}

void store_confirm_leaves(unsigned slot, int in_order)
{
    STORE_SET(slaves[slot].left_at, in_order ? 0 : clock_ms());
    STORE_SET(slaves[slot].is_member, 0);
}

int store_confirm_is_awaited(void)
{
    return 0;
}

int store_confirm_is_wanted(void)
{
    return 0;
}

void store_confirm_state(unsigned slot, store_confirm_t *to)
{
    to->is_member = STORE_GET(slaves[slot].is_member);
    to->position = STORE_GET(slaves[slot].position);
    to->heard_at = STORE_GET(slaves[slot].heard_at);
    to->left_at = STORE_GET(slaves[slot].left_at);
}
