/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file rescue.h
 * @brief A living item goes to another chunk, so that its page becomes empty.
 *
 * It stays what it is: its cas, its times and its bits. So nobody notices, and
 * it is no change for a slave. The head of a value in pieces stays where it is,
 * because each piece names it.
 *
 * Lock:  the caller has the lock of the chunks. The lock of the bucket is only
 *        tried. A thread that holds the bucket, or has a reference, keeps the
 *        item in its place.
 * Crash: a copy is LIVE when it is complete, and the original is FREE after
 *        that. In between there are two with the same cas, and the recovery
 *        takes one of them. A piece is moved by one store, to the link that
 *        leads to it; who is not reached is free.
 */
#ifndef APPPOOL_STORE_MEMORY_RESCUE_H
#define APPPOOL_STORE_MEMORY_RESCUE_H

#include "store/memory/extent.h"

/** Can it never go to another chunk? */
int store_rescue_is_fixed(const store_item_t *);

/**
 * Move what is in a chunk to another page of the class. If there is no free
 * chunk, a dead item goes for it, or with store_space_t.evict the one that was
 * unused longest.
 * @param ref of a page that is closed (chunk.h)
 * @return 1: the chunk is free. 0: it stays
 */
int store_rescue(store_space_t *, store_ref_t);

#endif
