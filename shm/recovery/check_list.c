/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/recovery/check_list.h"

#include <string.h>

#include "shm/slots/group.h"
#include "shm/format/heap.h"
#include "shm/format/list.h"

static int end(apl_check_list_t *walk, int verdict)
{
    memset(walk, 0, sizeof *walk);
    return verdict;
}

int apl_check_list_walk(apl_check_list_t *walk, apl_pool_t *pool,
                        const apl_link_t *head, uint32_t n,
                        apl_check_list_member_t *member, const void *owner,
                        uint32_t *left)
{
    if (!walk->begun) {
        walk->begun = 1;
        walk->at = APL_OFFSET(pool, head);
        pool->damaged = 0;
    }
    for (; *left > 0; --*left) {
        uint32_t next = apl_link_at(pool, walk->at)->next;

        /* Each link has the link back, so no link is met twice. */
        if (apl_link_at(pool, next)->prev != walk->at || pool->damaged)
            return end(walk, APL_CHECK_LIST_TORN);
        if (next == APL_OFFSET(pool, head))
            return end(walk, walk->n == n ? APL_CHECK_LIST_GOOD
                                          : APL_CHECK_LIST_LENGTH);
        if (!member(walk, pool, owner, next))
            return end(walk, APL_CHECK_LIST_STRANGER);
        if (walk->n++ == n)
            return end(walk, APL_CHECK_LIST_LENGTH);
        walk->at = next;
    }
    return APL_CHECK_LIST_MORE;
}

/* Does the process belong into the heap, below the parent that it names? */
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

/* Walk up and down by the references to parents, so no stack is needed. */
int apl_check_list_walk_heap(apl_check_list_t *walk, const apl_pool_t *pool,
                             const apl_group_t *group, uint32_t n,
                             uint32_t *left)
{
    if (!walk->begun) {
        walk->begun = 1;
        walk->at = group->order;
        walk->turns = 4 * (n + 1);
    }
    for (; *left > 0 && walk->at != 0; --*left) {
        uint32_t i = walk->at, from = walk->from;
        const apl_node_t *node;

        if (walk->turns-- == 0 || !in_place(pool, group, i))
            return end(walk, APL_CHECK_LIST_TORN);
        node = &pool->processes[i].node;
        walk->from = i;
        if (from == node->parent) {
            walk->n++;
            walk->at = node->left    ? node->left
                       : node->right ? node->right
                                     : node->parent;
        }
        else if (from == node->left && node->right)
            walk->at = node->right;
        else
            walk->at = node->parent;
    }
    if (walk->at != 0)
        return APL_CHECK_LIST_MORE;
    return end(walk,
               walk->n == n ? APL_CHECK_LIST_GOOD : APL_CHECK_LIST_LENGTH);
}
