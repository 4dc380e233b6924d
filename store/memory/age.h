/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file age.h
 * @brief How old the items of the classes are: s since their last use.
 *
 * The oldest item of a sample is what a class evicts. The age of the class is
 * the mean of these, of the last 32 samples or so. So one number says what a
 * class evicts, and what it would evict if it had to: a class that does not evict
 * has a sample each second, and one when a page of it was emptied. Samples
 * differ, and the oldest item of all classes is older than what each of them
 * evicts. So without the mean, equal classes would exchange pages all the time.
 * Heads and ends of values in pieces are not in the samples: their page is not
 * what such a value would give.
 *
 * Lock:  the caller has the lock of the chunks.
 * Crash: private memory.
 */
#ifndef APPPOOL_STORE_MEMORY_AGE_H
#define APPPOOL_STORE_MEMORY_AGE_H

#include "store/memory/chunk.h"

/** An age is in such parts of a second. */
#define STORE_AGE_PART 16

/** s since its last use. */
static inline uint32_t store_age(const store_item_t *item, uint32_t now)
{
    uint32_t used = STORE_GET(item->used);

    return used < now ? now - used : 0;
}

/** The oldest item of a sample of the class has this age, s.
 * @return the age of the class, in 1/STORE_AGE_PART s */
uint32_t store_age_note(store_class_info_t *, uint32_t age, uint32_t now);

/** Look at all classes, if none did in this second. */
void store_age_look(store_space_t *, uint32_t now);

/** Look at a class again. */
void store_age_look_at(store_space_t *, unsigned class_, uint32_t now);

/** Nothing of this class can be removed in this second. */
void store_age_forget(store_space_t *, unsigned class_);

/**
 * The class with the oldest items, or with dead ones, of those that are not tried
 * yet; of equal ones the larger one.
 * @param tried [STORE_CLASSES]
 * @return STORE_CLASSES: the others have no page
 */
unsigned store_age_oldest(const store_space_t *, const char *tried);

#endif
