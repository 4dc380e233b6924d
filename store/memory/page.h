/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file page.h
 * @brief The pages of a space: of a class, free, or without memory.
 *
 * A class has its pages in a ring, in which its hand goes round. Those with
 * free chunks are also in a list. Places in a page are in units of STORE_UNIT
 * from its beginning.
 *
 * Lock:  of the chunks.
 * Crash: see store/memory/chunk.h.
 */
#ifndef APPPOOL_STORE_MEMORY_PAGE_H
#define APPPOOL_STORE_MEMORY_PAGE_H

#include <pthread.h>

#include "store/memory/class.h"
#include "store/memory/extent.h"

#define STORE_PAGES_MAX  ((uint32_t)(STORE_EXTENT / STORE_PAGE))
#define STORE_PAGE_UNITS (STORE_PAGE / STORE_UNIT)
#define STORE_PAGE_FIRST ((uint16_t)(sizeof(store_page_t) / STORE_UNIT))

/** No page. */
#define STORE_NO_PAGE    UINT32_MAX

/** The chunks of one class, for `stats`. */
typedef struct {
    uint32_t pages;
    uint64_t used;        /**< chunks that are not free */
    uint64_t evictions;   /**< of living items */
    uint32_t evicted_age; /**< s since the last access of the last of them */
} store_class_stat_t;

typedef struct {
    uint32_t next, prev;             /**< of its class, in a ring; `next` also
                                        of the free ones */
    uint32_t roomy_next, roomy_prev; /**< of its class, with free chunks */
    uint16_t used;                   /**< chunks that are not free */
    uint16_t free;                   /**< the first chunk that was given back,
                                        0: none; linked by item->next */
    uint16_t fresh;                  /**< from here on never used in this
                                        class */
    uint8_t has_class;
    uint8_t class_;
    uint8_t closed; /**< it is being emptied: no chunk is taken from it */
} store_page_info_t;

/** A class. Items that are made together lie together, so neighbours say nothing
 * about the others. So the hand goes to another page with each step, and to a
 * chunk that is far from the last one. In as many rounds as a page has chunks it
 * meets each chunk once, if no page comes or goes. */
typedef struct {
    uint32_t hand;     /**< a page of the ring, or STORE_NO_PAGE */
    uint32_t round;    /**< the page at which the hand began its round */
    uint32_t roomy;    /**< the first page with free chunks */
    uint32_t empty;    /**< the one page without items that the class keeps */
    uint16_t hand_at;  /**< which chunk of the page is the next one, */
    uint16_t round_at; /**< and which was the first one of the round */
    uint16_t stride;   /**< from a chunk to the next one, in another page */
    uint32_t age;      /**< of the class, in 1/STORE_AGE_PART s (age.h), */
    uint32_t aged_at;  /**< s: and when it was last known; 0: it is not known */
    uint32_t oldest_page;   /**< of the oldest item of the last sample, or
                               STORE_NO_PAGE */
    int has_dead;           /**< without eviction: that item is dead */
    uint32_t refused_at;    /**< s: when no page could be emptied for it, */
    uint64_t refused_given; /**< and what `given` was then */
    store_class_stat_t stat;
} store_class_info_t;

struct store_chunks {
    pthread_mutex_t lock;
    store_page_info_t *page; /**< [STORE_PAGES_MAX]; memory where it is used */
    uint32_t free;           /**< pages that have memory and no class, */
    uint32_t hole;           /**< and those without memory: linked by `next` */
    uint32_t n_classed, n_free; /**< pages with a class; free ones */
    uint32_t looked_at; /**< s: when the ages of the classes were taken, */
    unsigned oldest;    /**< and which class has the oldest items */
    uint64_t given;     /**< chunks that were ever given back */
    store_class_info_t class_[STORE_CLASSES];
};

/** A page more for the class. @return 0: the space has all its pages */
int store_page_take(store_space_t *, unsigned class_);

/** The page has no items, and becomes free for any class. */
void store_page_release(store_space_t *, uint32_t page);

/** Take no chunk from this page any more. It has a class and is not closed. */
void store_page_close(store_space_t *, uint32_t page);

/** Undo that. A page without items becomes free.
 * @return 1: it is free */
int store_page_open(store_space_t *, uint32_t page);

/** A page that has memory and no class, to give the memory back while the lock
 * is not held. @return STORE_NO_PAGE: there is none */
uint32_t store_page_take_free(store_space_t *);
/** The page has lost its memory. */
void store_page_add_hole(store_space_t *, uint32_t page);

/** A recovery has seen all chunks of this page: with used ones it is of its
 * class, otherwise it loses its memory. */
void store_page_found(store_space_t *, uint32_t page);

/** Put a page into the list of those with free chunks, and take it out. */
void store_page_add_roomy(struct store_chunks *, uint32_t page);
void store_page_remove_roomy(struct store_chunks *, uint32_t page);

/** Write into the figures how much memory the pages have. */
void store_page_report(const store_space_t *);

static inline store_ref_t store_page_ref(uint32_t page, uint16_t place)
{
    return page * STORE_PAGE_UNITS + place;
}

static inline uint16_t store_page_step(unsigned class_)
{
    return store_class_size[class_] / STORE_UNIT;
}

/** The chunk with this number, from 0 on. */
static inline store_ref_t store_page_chunk(uint32_t page, unsigned class_,
                                           uint32_t i)
{
    return store_page_ref(
        page, (uint16_t)(STORE_PAGE_FIRST + i * store_page_step(class_)));
}

static inline int store_page_is_full(const store_page_info_t *p)
{
    return p->free == 0 &&
           p->fresh + store_page_step(p->class_) > (int)STORE_PAGE_UNITS;
}

#endif
