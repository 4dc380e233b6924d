/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file evict.h
 * @brief Room for a new item when no chunk and no page is free.
 *
 * An item goes: a dead one, or the one that was unused longest. Or a page goes
 * from a class with older items to the class that needs it.
 *
 * An item of such a page that was used lately goes to another page of its
 * class. In a space that does not evict, each living one does. The others are
 * removed. The end of a value in pieces goes to another page, too, and a page
 * with a head stays, as long as there is another way: to remove the values of a
 * page of heads would empty the space.
 *
 * Lock:  the caller has the lock of the chunks, so no chunk gets another owner
 *        meanwhile, and no bucket. The lock of a bucket is only tried. All
 *        functions but store_evict_item() give the lock of the chunks back and
 *        take it again in between, so what the caller knew of chunks is old
 *        afterwards. A thread that has the bucket of an item is awaited without
 *        it.
 * Crash: an item is removed by one store, to its state. Each item of a page
 *        goes by itself. The page loses its class when it has no item.
 */
#ifndef APPPOOL_STORE_MEMORY_EVICT_H
#define APPPOOL_STORE_MEMORY_EVICT_H

#include "store/memory/extent.h"

/**
 * Make room for a chunk of this class, when none and no page is free.
 * @return 1: something was freed, perhaps not enough. 0: there is no room
 */
int store_evict(store_space_t *, unsigned class_);

/** Why an item is removed, which decides what is counted. */
typedef enum {
    STORE_EVICT_LIVING, /**< living or dead, for its memory */
    STORE_EVICT_LARGE,  /**< living or dead, because the large ones have too
                             much: its class needs no page */
    STORE_EVICT_DEAD,   /**< only if it is dead, for its memory */
    STORE_EVICT_SWEPT   /**< only if it is dead */
} store_evict_why_t;

/** Remove this item, if no thread uses it and its bucket is not locked.
 * @param now s on the store's clock
 * @return 1: it was removed */
int store_evict_item(store_space_t *, store_item_t *, uint32_t now,
                     store_evict_why_t);

/**
 * Empty a page of the class whose items are oldest.
 * @param class_ the class that needs a page; it gives none. More than the last
 *               one: any gives one
 * @return 1: a page is free. 0: none could be emptied
 */
int store_evict_page_for(store_space_t *, unsigned class_);

/**
 * Empty a page of this class, the one of its oldest item if that is possible.
 * @param young an item that was used since so many s goes to another page; in a
 *              space that does not evict each living one
 * @return 1: a page is free
 */
int store_evict_page_of(store_space_t *, unsigned class_, uint32_t young);

#endif
