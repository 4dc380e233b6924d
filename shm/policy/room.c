/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/policy/room.h"

#include "shm/slots/hung.h"

/* Leaving processes keep their slots until they are gone. */
static int has_slots(const apl_pool_t *pool)
{
    const apl_header_t *h = pool->header;

    return (uint64_t)h->count + h->spawning + h->leaving <
           pool->n.processes - 1;
}

int apl_room_is_left(const apl_pool_t *pool, const apl_group_t *group,
                     uint32_t fewer)
{
    const apl_header_t *h = pool->header;
    uint64_t all = (uint64_t)h->count + h->spawning;
    uint64_t max = apl_hung_limit(pool, group) + fewer;

    return has_slots(pool) && all - h->replacing < max && all <= max;
}

int apl_room_is_left_above(const apl_pool_t *pool)
{
    const apl_header_t *h = pool->header;

    return has_slots(pool) &&
           (uint64_t)h->count + h->spawning <= apl_hung_limit(pool, NULL);
}
