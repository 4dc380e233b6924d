/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/slots/session_ref.h"

APL_UNLOCKED apl_session_t *apl_session_ref_find(const apl_pool_t *pool,
                                                 const apl_session_ref_t *ref)
{
    apl_session_t *s = apl_session_at(pool, ref->session);

    return s && ref->session <= pool->header->top_session &&
                   s->generation == ref->generation && s->child == pool->self
               ? s
               : NULL;
}
