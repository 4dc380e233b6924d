/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/verbs/template.h"

#include "shm/slots/group.h"

static apl_group_t *find(apl_pool_t *pool, const char *name)
{
    apl_group_t *g =
        apl_group_at(pool, apl_group_index(pool, apl_group_key(name), name));

    return g && g->state == APL_GROUP_USED ? g : NULL;
}

APL_UNLOCKED apr_status_t apl_template_need(apl_pool_t *pool, const char *name,
                                            apl_template_need_t *need)
{
    const apl_group_t *g = find(pool, name);

    if (!g)
        return APL_ESTALE;
    need->code = __atomic_load_n(&g->n_restarts, __ATOMIC_ACQUIRE);
    need->usable = !apl_group_drained(g) && !g->retired && !g->stamp.always;
    return APR_SUCCESS;
}

APL_UNLOCKED void apl_template_write(apl_pool_t *pool, const char *name,
                                     const apl_template_t *figures)
{
    apl_group_t *g = find(pool, name);

    if (g)
        g->template = *figures;
}
