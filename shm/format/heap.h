/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file heap.h
 * @brief The busy processes of a group that can take one more session, in an
 *        order: the process with the fewest sessions first, and among equals
 *        the oldest.
 *
 * This is a skew heap of process indexes (Sleator and Tarjan, "Self-adjusting
 * heaps", 1986). It needs only three indexes per node as memory. Insert and
 * remove take O(log n) amortized.
 *
 * Lock:  needed by all.
 * Crash: derived; repair.c rebuilds it.
 * Trust: walks are limited by the number of slots. An index out of bounds ends
 *        them and sets pool->damaged. While that is set, heaps are not
 *        touched: in a broken heap each walk could be as long as possible, and
 *        all heaps are rebuilt before the lock is given back.
 */
#ifndef APPPOOL_SHM_FORMAT_HEAP_H
#define APPPOOL_SHM_FORMAT_HEAP_H

#include "shm/format/pool.h"

/** Is the process in the heap with this root? */
int apl_heap_has(const apl_pool_t *pool, uint32_t root,
                 const apl_process_t *process);

/** The key of a process in a heap (its sessions) must not change: remove the
 * process first. */
void apl_heap_insert(apl_pool_t *pool, uint32_t *root, apl_process_t *process);

/** Does nothing if the process is not in the heap. */
void apl_heap_remove(apl_pool_t *pool, uint32_t *root, apl_process_t *process);

/** Does `a` come before `b`? A parent comes before its child. */
int apl_heap_before(const apl_process_t *a, const apl_process_t *b);

#endif
