/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file heap.h
 * @brief A group's busy processes that can take one session more: the one
 *        with the fewest first, the oldest of those with as few.
 *
 * A skew heap of process indexes (Sleator and Tarjan, "Self-adjusting heaps",
 * 1986): no memory but three indexes a node, insert and remove O(log n)
 * amortized.
 *
 * Lock:  needed by all.
 * Crash: derived; rebuilt by repair.h.
 * Trust: walks are bounded by the number of slots; an index out of bounds
 *        ends them and sets pool->damaged. While that is set, heaps are left
 *        alone: a torn one would make each walk as long as it can be, and all
 *        of them are rebuilt before the lock is given back.
 */
#ifndef APPPOOL_SHM_FORMAT_HEAP_H
#define APPPOOL_SHM_FORMAT_HEAP_H

#include "shm/format/pool.h"

/** Is the process in the heap with this root? */
int apl_heap_has(const apl_pool_t *pool, uint32_t root,
                 const apl_process_t *process);

/** The key of a process in a heap (sessions) must not change: remove it first.
 */
void apl_heap_insert(apl_pool_t *pool, uint32_t *root, apl_process_t *process);

/** Harmless when it is not in the heap. */
void apl_heap_remove(apl_pool_t *pool, uint32_t *root, apl_process_t *process);

/** The parent precedes its child. @return 1: the order holds between them */
int apl_heap_before(const apl_process_t *a, const apl_process_t *b);

#endif
