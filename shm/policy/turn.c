/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/policy/turn.h"

#include "shm/format/list.h"
#include "shm/policy/room.h"
#include "shm/slots/group.h"
#include "shm/slots/hung.h"
#include "shm/slots/queue.h"

void apl_turn_take_above(apl_lock_token_t *token, apl_group_t *group)
{
    if (!apl_list_linked(&group->above))
        apl_list_append(token->pool, &token->pool->header->above,
                        &group->above);
}

void apl_turn_take(apl_lock_token_t *token, apl_group_t *group)
{
    apl_pool_t *pool = token->pool;
    apl_header_t *h = pool->header;

    if (!apl_list_linked(&group->turn))
        apl_list_append(pool,
                        apl_group_unserved(group) ? &h->unserved : &h->growing,
                        &group->turn);
}

int apl_turn_has_room(const apl_lock_token_t *token, const apl_group_t *group)
{
    return apl_room_is_left(token->pool, group, 0);
}

int apl_turn_may_evict(const apl_lock_token_t *token, const apl_group_t *group)
{
    (void)token;
    return !apl_group_fails(group) && group->spawning == 0;
}

apl_group_t *apl_turn_next(apl_lock_token_t *token, apl_link_t *list,
                           apl_turn_fits_t *fits, const apl_group_t *but)
{
    apl_pool_t *pool = token->pool;
    apl_walk_t it = apl_list_walk(pool, list, pool->n.groups);
    uint32_t at;

    while ((at = apl_list_next(pool, &it)) != 0) {
        apl_group_t *g = APL_GROUP_OF(pool, at, turn);

        if (!g) {
            pool->damaged = 1;
            return NULL;
        }
        if (g->waiting == 0 || !apl_group_may_grow(token, g))
            apl_list_remove(pool, &g->turn);
        else if (fits == apl_turn_may_evict && apl_group_fails(g)) {
            apl_list_remove(pool, &g->turn);
            apl_turn_take_above(token, g);
        }
        else if (g != but && (!fits || fits(token, g)))
            return g;
    }
    return NULL;
}

apl_group_t *apl_turn_older(apl_lock_token_t *token, apl_group_t *a,
                            apl_group_t *b)
{
    const apl_session_t *sa = a ? apl_queue_head(token, a) : NULL;
    const apl_session_t *sb = b ? apl_queue_head(token, b) : NULL;

    if (!sa || !sb)
        return sa ? a : b;
    return sb->ticket < sa->ticket ? b : a;
}

int apl_turn_is_behind(apl_lock_token_t *token, apl_group_t *group)
{
    apl_header_t *h = token->pool->header;
    apl_group_t *first = apl_turn_next(token, &h->unserved, NULL, NULL);

    first = apl_turn_older(
        token, first,
        apl_turn_next(token, &h->growing, apl_turn_has_room, NULL));
    return first && first != group &&
           apl_turn_older(token, first, group) == first;
}

/* ---- the place above the limit ---- */

int apl_turn_may_replace(const apl_lock_token_t *token,
                         const apl_group_t *group)
{
    uint32_t max = group->options.max_instances;

    return group->outdated > 0 && group->spawning == 0 &&
           apl_group_may_start(token, group) &&
           (max == 0 || group->size <= max + apl_hung_credit(group));
}

static int may_try(const apl_lock_token_t *token, const apl_group_t *group)
{
    return apl_group_fails(group) && group->waiting > 0 &&
           apl_group_unserved(group) && apl_group_may_grow(token, group);
}

apl_group_t *apl_turn_next_above(apl_lock_token_t *token)
{
    apl_pool_t *pool = token->pool;
    apl_walk_t it = apl_list_walk(pool, &pool->header->above, pool->n.groups);
    uint32_t at;

    while ((at = apl_list_next(pool, &it)) != 0) {
        apl_group_t *g = APL_GROUP_OF(pool, at, above);

        if (!g) {
            pool->damaged = 1;
            return NULL;
        }
        if (apl_turn_may_replace(token, g) || may_try(token, g))
            return g;
        apl_list_remove(pool, &g->above);
    }
    return NULL;
}
