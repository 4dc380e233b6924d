/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file large_evict.h
 * @brief A few large values must not take the memory of thousands of small ones.
 *
 * Large values may use memory that is free. But if memory is short, and they
 * have more than half of their space, the large value goes that was unused
 * longest, whoever needs the room. So half of a space is for the other ones.
 *
 * Lock:  the caller has the lock of the chunks.
 * Crash: see store/memory/evict.h.
 */
#ifndef APPPOOL_STORE_MEMORY_LARGE_EVICT_H
#define APPPOOL_STORE_MEMORY_LARGE_EVICT_H

#include "store/memory/extent.h"

/**
 * Remove the large value that was unused longest, of some, or one that is dead.
 * @return 1: one was removed. 0: they have no more than half of the space, or
 *         none can be removed
 */
int store_large_evict(store_space_t *);

#endif
