/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/slots/hung.h"

uint32_t apl_hung_credit(const apl_group_t *group)
{
    uint32_t most =
        group->options.spawn_if_under > 0 ? group->options.hung_extra : 0;

    return group->hung < most ? group->hung : most;
}

int apl_hung_may_use_credit(const apl_group_t *group)
{
    uint64_t all = (uint64_t)group->size + group->spawning;

    return all < (uint64_t)group->options.spawn_if_under + group->hung;
}

APL_UNLOCKED uint64_t apl_hung_limit(const apl_pool_t *pool,
                                     const apl_group_t *group)
{
    const apl_header_t *h = pool->header;
    uint32_t not_for_it =
        group && !apl_hung_may_use_credit(group) ? apl_hung_credit(group) : 0;

    return (uint64_t)h->max + h->credit - not_for_it;
}

APL_UNLOCKED int apl_hung_exceeded(const apl_pool_t *pool)
{
    const apl_header_t *h = pool->header;
    uint64_t all = (uint64_t)h->count + h->spawning;

    return all > h->replacing + apl_hung_limit(pool, NULL);
}

void apl_hung_count(apl_pool_t *pool, apl_group_t *group, int by)
{
    apl_header_t *h = pool->header;
    uint32_t before = apl_hung_credit(group);

    group->hung += (uint32_t)by;
    h->hung += (uint32_t)by;
    h->credit += apl_hung_credit(group) - before;
}

void apl_hung_configure(apl_pool_t *pool, apl_group_t *group,
                        const apl_options_t *options)
{
    uint32_t before = apl_hung_credit(group);

    group->options = *options;
    pool->header->credit += apl_hung_credit(group) - before;
}
