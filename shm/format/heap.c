/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/format/heap.h"

int apl_heap_before(const apl_process_t *a, const apl_process_t *b)
{
    if (a->hung != b->hung)
        return a->hung < b->hung;
    if (a->sessions != b->sessions)
        return a->sessions < b->sessions;
    return a->birth <= b->birth;
}

int apl_heap_has(const apl_pool_t *pool, uint32_t root,
                 const apl_process_t *process)
{
    return process->node.parent != 0 ||
           root == APL_PROCESS_INDEX(pool, process);
}

/* Merge the heaps a and b below `parent`, from the top down (a skew heap). The
 * smaller root becomes the node. Its two children change sides. The rest of a
 * and b is merged into the left child. @return the root of the result */
static uint32_t merge(apl_pool_t *pool, uint32_t a, uint32_t b, uint32_t parent)
{
    uint32_t root = 0;
    uint32_t *slot = &root;
    uint32_t left = pool->n.processes;

    while (a != 0 && b != 0 && left-- > 0) {
        apl_process_t *pa = apl_process_at(pool, a);
        apl_process_t *pb = apl_process_at(pool, b);
        uint32_t rest;

        if (!pa || !pb)
            break;
        if (!apl_heap_before(pa, pb)) {
            uint32_t other = a;

            pa = pb;
            a = b;
            b = other;
        }
        *slot = a;
        pa->node.parent = parent;
        parent = a;
        rest = pa->node.right;
        pa->node.right = pa->node.left;
        slot = &pa->node.left;
        a = rest;
    }
    if (a != 0 && b != 0)
        pool->damaged = 1;
    *slot = a != 0 ? a : b;
    if (*slot != 0) {
        apl_process_t *p = apl_process_at(pool, *slot);

        if (p)
            p->node.parent = parent;
        else
            pool->damaged = 1;
    }
    return root;
}

void apl_heap_insert(apl_pool_t *pool, uint32_t *root, apl_process_t *process)
{
    process->node.left = process->node.right = process->node.parent = 0;
    if (!pool->damaged)
        *root = merge(pool, *root, APL_PROCESS_INDEX(pool, process), 0);
}

void apl_heap_remove(apl_pool_t *pool, uint32_t *root, apl_process_t *process)
{
    uint32_t self = APL_PROCESS_INDEX(pool, process);
    apl_process_t *parent;
    uint32_t rest;

    if (pool->damaged || !apl_heap_has(pool, *root, process))
        return;
    parent = apl_process_at(pool, process->node.parent);
    rest = merge(pool, process->node.left, process->node.right,
                 process->node.parent);
    if (!parent)
        *root = rest;
    else if (parent->node.left == self)
        parent->node.left = rest;
    else if (parent->node.right == self)
        parent->node.right = rest;
    else
        pool->damaged = 1;
    process->node.left = process->node.right = process->node.parent = 0;
}
