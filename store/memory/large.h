/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file large.h
 * @brief The large values of a space, in a ring.
 *
 * The ring goes through the first piece of each value: `exptime` of that piece
 * is the head before, `used` is the head behind. So the ring needs no memory of
 * its own, and a value leaves it in no time. A first piece that goes to another
 * chunk takes its two fields along. A head would have to leave the ring before,
 * and to enter it again.
 *
 * Lock:  the caller has the lock of the chunks; for store_large_comes() and
 *        store_large_has_come() none.
 * Crash: these two fields mean nothing to the next store. Its recovery makes the
 *        ring again.
 */
#ifndef APPPOOL_STORE_MEMORY_LARGE_H
#define APPPOOL_STORE_MEMORY_LARGE_H

#include "store/memory/extent.h"

/** Bytes. A longer value is a large one. */
#define STORE_LARGE (UINT32_C(256) << 10)

static inline int store_large_is(const store_item_t *item)
{
    return item->length > STORE_LARGE;
}

/** This value counts from now on. It is a large one, and its first piece is
 * there. */
void store_large_add(store_space_t *, store_item_t *head);

/** Its pieces are to be given back. */
void store_large_remove(store_space_t *, store_item_t *head);

/** The head at the hand, which goes on to the next one.
 * @return NULL: the space has no large value */
store_item_t *store_large_next(store_space_t *);

/**
 * A client begins to send a large value. Nobody can evict it before it is there,
 * so those that are sent at the same time may have half of the space together.
 * @return 0: with this one they would have more
 */
int store_large_comes(store_space_t *, uint32_t length);

/** It is there, or its client has left. */
void store_large_has_come(store_space_t *, uint32_t length);

/** Have the large values more than half of the memory of the space? */
int store_large_exceed(const store_space_t *);

#endif
