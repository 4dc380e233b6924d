/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/policy/refusal.h"

#include "shm/format/error.h"
#include "shm/slots/group.h"

apr_status_t apl_refusal_of(const apl_lock_token_t *token, const apl_group_t *g)
{
    if (g->retired && g->size + g->spawning == 0)
        return APL_ESTOPPING;
    if (g->failures != 0 && token->now < g->retry_at &&
        g->size + g->spawning == 0)
        return APL_EBACKOFF;
    if (apl_group_too_many_unkillable(g) && g->size + g->spawning == 0)
        return APL_EUNKILLABLE;
    if (g->options.max_queue != 0 && g->waiting >= g->options.max_queue)
        return APL_EQUEUEFULL;
    return APR_SUCCESS;
}
