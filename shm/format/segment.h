/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file segment.h
 * @brief Create the segment, and attach to it. The only caller of
 *        memfd_create().
 *
 * The parent of httpd creates the segment once and keeps it over graceful
 * restarts. Its children inherit the mapping. The spawner gets the descriptor
 * and attaches to it.
 *
 * The segment is a sealed memfd:
 *  - It has no name, so no other process can open it, and nothing is left over
 *    when all processes that had it were killed.
 *  - It takes no space in /dev/shm.
 *  - No process can make it shorter, so an access never ends in SIGBUS.
 *  - A page that was never touched takes no memory.
 *
 * Crash: no other process has the descriptor of an incomplete segment.
 * Trust: the sizes come from the caller, never from the segment.
 */
#ifndef APPPOOL_SHM_FORMAT_SEGMENT_H
#define APPPOOL_SHM_FORMAT_SEGMENT_H

#include "shm/format/pool.h"

/** Bytes that a segment of this capacity takes. */
apr_size_t apl_segment_size(const apl_capacity_t *capacity);

/**
 * Make an empty pool in `memory` (64-byte aligned, zeroed, apl_segment_size
 * bytes) and a handle for it.
 */
void apl_segment_format(apl_pool_t *pool, void *memory,
                        const apl_capacity_t *capacity);

/** Empty all lists of the header and set its counts to 0; for repair.c. */
void apl_segment_empty(apl_pool_t *pool);

/**
 * Create a segment. pool->file is its descriptor, close-on-exec.
 * @return APR_SUCCESS; APR_EINVAL: too large; or why the kernel refuses
 */
apr_status_t apl_segment_create(apl_pool_t *pool,
                                const apl_capacity_t *capacity);

/**
 * Attach to the segment that another process created. What its header says
 * about itself is not trusted. It is written again.
 * @param file     its descriptor; on success it is the pool's
 * @param capacity what it was created with
 * @return APR_SUCCESS; APL_EFOREIGN: it is no segment of that capacity
 */
apr_status_t apl_segment_attach(apl_pool_t *pool, int file,
                                const apl_capacity_t *capacity);

/** Forget the mapping and the descriptor; the last one frees the memory. */
void apl_segment_close(apl_pool_t *pool);

#endif
