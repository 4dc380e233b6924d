/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file chunk.h
 * @brief The pages of a space, and the free chunks in them.
 *
 * What the store notes about a page is in private memory, and a recovery
 * rebuilds it. A page without items goes back to the space. But a class keeps
 * one such page until another class needs it.
 *
 * Lock:  the caller of each function except make, free and lock has the lock of
 *        the chunks.
 * Crash: see format.h: a page gets its class before its first item, and the
 *        states of its chunks are FREE before that.
 */
#ifndef APPPOOL_STORE_MEMORY_CHUNK_H
#define APPPOOL_STORE_MEMORY_CHUNK_H

#include "store/memory/page.h"

#define STORE_SAMPLE 16

/** @return NULL: no memory */
struct store_chunks *store_chunk_make(void);
void store_chunk_free(struct store_chunks *);

void store_chunk_lock(store_space_t *);
void store_chunk_unlock(store_space_t *);

/**
 * Take a chunk: a free one of the class, or the first one of a free page.
 * @return WRITING. 0: there is none, and the space has all its pages
 */
store_ref_t store_chunk_take(store_space_t *, unsigned class_);

/** Give a chunk back. Its state becomes FREE. */
void store_chunk_give(store_space_t *, store_ref_t);

/** Chunks that are beside each other in no page: a sample of the class. */
typedef struct {
    unsigned n; /**< 0: the class has no page */
    store_item_t *chunk[STORE_SAMPLE];
} store_sample_t;

/** The next ones at the hand of the class. */
void store_chunk_sample(store_space_t *, unsigned class_, store_sample_t *);

/** The class of a page, or -1: it has none. */
int store_chunk_class(const store_space_t *, uint32_t page);

/** Statistics of a class. The caller may change the fields of evictions. */
store_class_stat_t *store_chunk_stat(store_space_t *, unsigned class_);

/** The page of a reference. */
static inline uint32_t store_chunk_page(store_ref_t ref)
{
    return ref / (STORE_PAGE / STORE_UNIT);
}

/* ---- for the recovery: no lock, no other thread ---- */

/** This page has a class. For each of its chunks that is not free,
 * store_chunk_found() follows, in their order. */
void store_chunk_found_page(store_space_t *, uint32_t page, unsigned class_);
void store_chunk_found(store_space_t *, store_ref_t);

/** Free pages have no memory now; a page with a class and without items
 * becomes free. */
void store_chunk_found_all(store_space_t *);

#endif
