/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/ready.h"

#include "base/clock_ms.h"
#include "store/cluster/follower.h"
#include "store/memory/extent.h"
#include "store/memory/region.h"

static store_ready_t among_peers(const store_follower_state_t *s)
{
    return !s->has_asked ? STORE_READY_NOT
           : s->better   ? STORE_READY_BETTER
                         : STORE_READY_YES;
}

/* After the start of all hosts there is no master yet. One that has met none may
 * become it, or nobody could. But not with a part of a copy: another host has
 * more, and an administrator knows which. */
store_ready_t store_ready_slave(const store_follower_state_t *s, int64_t began)
{
    if (s->keeps &&
        STORE_GET(store_region_directory()->lacks) != STORE_LACKS_ITEMS)
        return among_peers(s);
    if (s->complete)
        return !store_follower_state_is_old(s) ? STORE_READY_YES
               : s->better                     ? STORE_READY_BETTER
                                               : STORE_READY_OLD;
    if (s->has_begun || STORE_GET(store_region_directory()->lacks))
        return STORE_READY_PART;
    if (!s->has_tried || s->was_answered ||
        clock_ms() - began < STORE_FOLLOWER_LOOKS)
        return STORE_READY_NOT;
    return among_peers(s);
}
