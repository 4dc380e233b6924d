/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/verbs/step.h"

#include "shm/slots/numbers.h"

/* All applications are looked at in the same moment. */
static int is_due(const apl_numbers_t *n, int64_t now)
{
    int64_t last = n->sampled;

    return last > now || last / APL_STEP_PERIOD != now / APL_STEP_PERIOD;
}

APL_UNLOCKED void apl_step_sample(apl_pool_t *pool, int64_t now)
{
    uint32_t i, top = apl_top(&pool->header->top_group, pool->n.groups);

    for (i = 1; i <= top; i++) {
        const apl_group_t *g = &pool->groups[i];

        if (g->state == APL_GROUP_USED && g->counted == 1 &&
            is_due(&pool->numbers[i], now))
            apl_numbers_keep(&pool->numbers[i], now);
    }
}
