/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/verbs/group_start.h"

#include "shm/verbs/enter.h"

/* ---- its template ---- */

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

/* ---- a start that lasts long ---- */

apr_status_t apl_slow_start_write(apl_pool_t *pool, const char *name,
                                  const apl_slow_start_t *slow, int64_t now)
{
    apl_group_t *g;
    apl_lock_token_t token;
    apr_status_t rv = apl_enter_group(&token, pool, name, now, &g);

    if (rv != APR_SUCCESS)
        return rv;
    g->slow_start = *slow;
    apl_leave(&token);
    return APR_SUCCESS;
}

/* A start of the group of which the spawner has said nothing yet. One that the
 * spawner has not taken has no id that a client could be told.
 * @return NULL: there is none */
static const apl_process_t *find_start(const apl_pool_t *pool,
                                       const apl_group_t *g)
{
    uint32_t i, top = apl_top(&pool->header->top_process, pool->n.processes);

    for (i = 1; i <= top; i++) {
        const apl_process_t *p = &pool->processes[i];

        if (p->group == APL_GROUP_INDEX(pool, g) &&
            p->state == APL_PROCESS_STARTING)
            return p;
    }
    return NULL;
}

int apl_slow_start_read(apl_pool_t *pool, const apl_app_t *app,
                        apl_slow_start_t *slow, int64_t now)
{
    const apl_slow_start_t *found = NULL;
    const apl_process_t *p = NULL;
    const apl_group_t *g;
    apl_lock_token_t token;

    if (apl_enter(&token, pool, now, APL_FOREVER) != APR_SUCCESS)
        return 0;
    g = apl_group_find(&token, app->key, app->name);
    if (g && g->size == 0) {
        found = apl_slow_start_of(pool, g);
        if (!found && g->spawning != 0)
            p = find_start(pool, g);
    }
    if (found)
        *slow = *found;
    else if (p)
        *slow = (apl_slow_start_t){.id = p->id, .since = p->started};
    apl_leave(&token);
    slow->text[sizeof slow->text - 1] = 0;
    return found || p;
}

/* A template has no slot, and the low bits of its id are 0. */
const apl_slow_start_t *apl_slow_start_of(const apl_pool_t *pool,
                                          const apl_group_t *group)
{
    const apl_slow_start_t *slow = &group->slow_start;
    const apl_process_t *p =
        apl_process_at(pool, (uint32_t)(slow->id & 0xffff));

    if (slow->id == 0 || group->spawning == 0)
        return NULL;
    if ((slow->id & 0xffff) == 0)
        return group->template.state == APL_TEMPLATE_LOADING ? slow : NULL;
    return p && p->id == slow->id && p->state == APL_PROCESS_STARTING ? slow
                                                                      : NULL;
}
