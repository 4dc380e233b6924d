/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/recovery/trail.h"

#include <string.h>

#include "shm/slots/group.h"
#include "shm/format/heap.h"
#include "shm/format/list.h"

static int end(apl_trail_t *trail, int verdict)
{
    memset(trail, 0, sizeof *trail);
    return verdict;
}

int apl_trail_list(apl_trail_t *trail, apl_pool_t *pool, const apl_link_t *head,
                   uint32_t n, apl_trail_member_t *member, const void *owner,
                   uint32_t *left)
{
    if (!trail->begun) {
        trail->begun = 1;
        trail->at = APL_OFFSET(pool, head);
        pool->damaged = 0;
    }
    for (; *left > 0; --*left) {
        uint32_t next = apl_link_at(pool, trail->at)->next;

        /* As each link is its neighbour's neighbour, none is met twice. */
        if (apl_link_at(pool, next)->prev != trail->at || pool->damaged)
            return end(trail, APL_TRAIL_TORN);
        if (next == APL_OFFSET(pool, head))
            return end(trail,
                       trail->n == n ? APL_TRAIL_WHOLE : APL_TRAIL_LENGTH);
        if (!member(trail, pool, owner, next))
            return end(trail, APL_TRAIL_STRANGER);
        if (trail->n++ == n)
            return end(trail, APL_TRAIL_LENGTH);
        trail->at = next;
    }
    return APL_TRAIL_MORE;
}

/* Does the process belong into the heap, below the one that it names? */
static int in_place(const apl_pool_t *pool, const apl_group_t *g, uint32_t i)
{
    const apl_process_t *p = apl_process_at(pool, i), *above;

    if (!p || p->state != APL_PROCESS_LIVE || !apl_group_has_room(g, p) ||
        p->group != APL_GROUP_INDEX(pool, g))
        return 0;
    above = apl_process_at(pool, p->node.parent);
    return (above == NULL) == (i == g->order) &&
           (!above || apl_heap_before(above, p));
}

/* Up and down by the parents' references, without a stack. */
int apl_trail_heap(apl_trail_t *trail, const apl_pool_t *pool,
                   const apl_group_t *group, uint32_t n, uint32_t *left)
{
    if (!trail->begun) {
        trail->begun = 1;
        trail->at = group->order;
        trail->turns = 4 * (n + 1);
    }
    for (; *left > 0 && trail->at != 0; --*left) {
        uint32_t i = trail->at, from = trail->from;
        const apl_node_t *node;

        if (trail->turns-- == 0 || !in_place(pool, group, i))
            return end(trail, APL_TRAIL_TORN);
        node = &pool->processes[i].node;
        trail->from = i;
        if (from == node->parent) {
            trail->n++;
            trail->at = node->left    ? node->left
                        : node->right ? node->right
                                      : node->parent;
        }
        else if (from == node->left && node->right)
            trail->at = node->right;
        else
            trail->at = node->parent;
    }
    if (trail->at != 0)
        return APL_TRAIL_MORE;
    return end(trail, trail->n == n ? APL_TRAIL_WHOLE : APL_TRAIL_LENGTH);
}
