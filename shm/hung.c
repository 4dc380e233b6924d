/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/hung.h"

uint32_t apl_hung_credit(const apl_group_t *group)
{
    uint32_t most = group->options.hung_extra;

    return group->hung < most ? group->hung : most;
}

int apl_hung_short(const apl_group_t *group)
{
    uint64_t all = (uint64_t)group->size + group->spawning;

    return all < (uint64_t)group->options.spawn_if_under + group->hung;
}

int apl_hung_exceeded(const apl_pool_t *pool)
{
    const apl_header_t *h = pool->header;

    return h->count + h->spawning - h->replacing > h->max + h->credit;
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
