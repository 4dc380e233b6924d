/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file age.h
 * @brief How old the items of the classes are: s since their last use.
 *
 * The age of a class is that of the oldest item of a sample. It holds for one
 * second, and until a page of the class is emptied.
 *
 * Lock:  the caller has the lock of the chunks.
 * Crash: private memory.
 */
#ifndef APPPOOL_STORE_MEMORY_AGE_H
#define APPPOOL_STORE_MEMORY_AGE_H

#include "store/memory/chunk.h"

/** Of an item that is dead, in a space that evicts nothing else. */
#define STORE_AGE_DEAD UINT32_MAX

/** s since its last use. */
static inline uint32_t store_age(const store_item_t *item, uint32_t now)
{
    uint32_t used = STORE_GET(item->used);

    return used < now ? now - used : 0;
}

/** Look at all classes, if none did in this second. */
void store_age_look(store_space_t *, uint32_t now);

/** Look at a class again. */
void store_age_look_at(store_space_t *, unsigned class_, uint32_t now);

/** Nothing of this class can be removed in this second. */
void store_age_forget(store_space_t *, unsigned class_);

/**
 * The class with the oldest items of those that are not tried yet.
 * @param tried [STORE_CLASSES]
 * @return STORE_CLASSES: the others have no page
 */
unsigned store_age_oldest(const store_space_t *, const char *tried);

#endif
