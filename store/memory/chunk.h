/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file chunk.h
 * @brief Chunks: their sizes, the pages that they lie in, and the values that
 *        need many of them.
 *
 * A page has chunks of one class, which is one size. A class has its pages in a
 * ring, in which its hand goes round. Those with free chunks are also in a
 * list. A page without items goes back to the space. But a class keeps one such
 * page until another class needs it. Places in a page are in units of
 * STORE_UNIT from its beginning.
 *
 * What the store notes about a page is in private memory, and a recovery
 * rebuilds it.
 *
 * Lock:  that of the chunks, of which each space has one. The caller has it,
 *        unless a function says otherwise.
 * Crash: see format.h: a page gets its class before its first item, and the
 *        states of its chunks are FREE before that.
 */
#ifndef APPPOOL_STORE_MEMORY_CHUNK_H
#define APPPOOL_STORE_MEMORY_CHUNK_H

#include <pthread.h>
#include <string.h>

#include "store/memory/extent.h"

/* ---- classes: the sizes are part of the format ---- */

#define STORE_CLASSES   38
#define STORE_CHUNK_MAX 8184

/** Bytes of a chunk; multiples of STORE_UNIT. A size is about an eighth
 * more than the one before, and as large as the number of chunks in a page
 * allows. */
extern const uint16_t store_class_size[STORE_CLASSES];

/** The smallest class for that many bytes, at most STORE_CHUNK_MAX. */
unsigned store_class_of(uint32_t bytes);

/** Chunks of a page. */
static inline uint32_t store_class_chunks(unsigned class_)
{
    return (STORE_PAGE - (uint32_t)sizeof(store_page_t)) /
           store_class_size[class_];
}

/** The chunks of one class, for `stats`. */
typedef struct {
    uint32_t pages;
    uint64_t used;        /**< chunks that are not free */
    uint64_t evictions;   /**< of living items */
    uint32_t evicted_age; /**< s since the last access of the last of them */
} store_class_stat_t;

/** A class. Items that are made together lie together, so neighbours say
 * nothing about the others. So the hand goes to another page with each step,
 * and to a chunk that is far from the last one. In as many rounds as a page has
 * chunks it meets each chunk once, if no page comes or goes. */
typedef struct {
    uint32_t hand;     /**< a page of the ring, or STORE_NO_PAGE */
    uint32_t round;    /**< the page at which the hand began its round */
    uint32_t roomy;    /**< the first page with free chunks */
    uint32_t empty;    /**< the one page without items that the class keeps */
    uint16_t hand_at;  /**< which chunk of the page is the next one, */
    uint16_t round_at; /**< and which was the first one of the round */
    uint16_t stride;   /**< from a chunk to the next one, in another page */
    uint32_t age;      /**< of the class, in parts of a second (evict.c), */
    uint32_t aged_at;  /**< s: and when it was last known; 0: it is not known */
    uint32_t oldest_page;   /**< of the oldest item of the last sample, or
                               STORE_NO_PAGE */
    int has_dead;           /**< without eviction: that item is dead */
    uint32_t refused_at;    /**< s: when no page could be emptied for it, */
    uint64_t refused_given; /**< and what `given` was then */
    store_class_stat_t stat;
} store_class_info_t;

/* ---- pages: of a class, free, or without memory ---- */

#define STORE_PAGES_MAX  ((uint32_t)(STORE_EXTENT / STORE_PAGE))
#define STORE_PAGE_UNITS (STORE_PAGE / STORE_UNIT)
#define STORE_PAGE_FIRST ((uint16_t)(sizeof(store_page_t) / STORE_UNIT))

/** No page. */
#define STORE_NO_PAGE    UINT32_MAX

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

/* ---- chunks ---- */

/** Without a lock. @return NULL: no memory */
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

#define STORE_SAMPLE 16

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
    return ref / STORE_PAGE_UNITS;
}

/* For the recovery: without a lock, and without another thread. */

/** This page has a class. For each of its chunks that is not free,
 * store_chunk_found() follows, in their order. */
void store_chunk_found_page(store_space_t *, uint32_t page, unsigned class_);
void store_chunk_found(store_space_t *, store_ref_t);

/** Free pages have no memory now; a page with a class and without items
 * becomes free. */
void store_chunk_found_all(store_space_t *);

/* ---- pieces of a value that is too large for one chunk ----
 *
 * The head is an item with STORE_CHAINED. Behind its key is the reference of
 * the first piece. Each piece has STORE_PIECE_BYTES of the value, the last one
 * has the rest. A piece names its head in `flags` and its offset in `cas`.
 *
 * To read them, no lock is needed: the caller owns the item, or holds a
 * reference to it. */

#define STORE_PIECE_BYTES (STORE_CHUNK_MAX - (uint32_t)sizeof(store_item_t))

/** Where the head has the reference of its first piece; not aligned. */
static inline char *store_piece_link(const store_item_t *head)
{
    return (char *)(uintptr_t)(head + 1) + head->klen;
}

static inline uint32_t store_piece_first(const store_item_t *head)
{
    uint32_t link;

    memcpy(&link, store_piece_link(head), sizeof link);
    return link;
}

/** Bytes of the value in the piece at this offset. */
static inline uint32_t store_piece_length(const store_item_t *head,
                                          uint32_t offset)
{
    uint32_t rest = head->length - offset;

    return rest < STORE_PIECE_BYTES ? rest : STORE_PIECE_BYTES;
}

/** Is it the head or the end of a value in pieces? Most of that value is in
 * other pages. So to evict it for this chunk frees much more than is needed: a
 * page has up to 1,364 heads. */
static inline int store_piece_is_part(const store_item_t *chunk,
                                      unsigned class_)
{
    return class_ < STORE_CLASSES - 1 &&
           (store_state(chunk) == STORE_PIECE ||
            (STORE_GET(chunk->bits) & STORE_CHAINED));
}

/** The piece with the byte at this offset. The search begins at the place, if
 * that is not behind it, and leaves it at the piece. */
store_item_t *store_piece_at(const store_space_t *, const store_item_t *head,
                             uint32_t offset, store_place_t *);

/** Link a copy instead of a piece. Under the lock of the head's bucket, too. */
void store_piece_replace(const store_space_t *, store_item_t *head,
                         const store_item_t *piece, const store_item_t *by);

/** Give the chunks of an item back, also those of its pieces. The item is not
 * LIVE. */
void store_piece_free(store_space_t *, store_item_t *);

/* ---- large values, in a ring ----
 *
 * The ring goes through the first piece of each value: `exptime` of that piece
 * is the head before, `used` is the head behind. So the ring needs no memory of
 * its own, and a value leaves it in no time. A first piece that goes to another
 * chunk takes its two fields along. A head would have to leave the ring before,
 * and to enter it again.
 *
 * These two fields mean nothing to the next store. Its recovery makes the ring
 * again. */

/** Bytes. A longer value is a large one. */
#define STORE_LARGE (UINT32_C(256) << 10)

static inline int store_large_is(const store_item_t *item)
{
    return item->length > STORE_LARGE;
}

/** This value counts from now on. It is a large one, and its first piece is
 * there. */
void store_large_add(store_space_t *, store_item_t *head);

/** The head at the hand, which goes on to the next one.
 * @return NULL: the space has no large value */
store_item_t *store_large_next(store_space_t *);

/** Have the large values more than half of the memory of the space? */
int store_large_exceed(const store_space_t *);

/**
 * A client begins to send a large value. Nobody can evict it before it is
 * there, so those that are sent at the same time may have half of the space
 * together. Without a lock.
 * @return 0: with this one they would have more
 */
int store_large_comes(store_space_t *, uint32_t length);

/** It is there, or its client has left. Without a lock. */
void store_large_has_come(store_space_t *, uint32_t length);

#endif
