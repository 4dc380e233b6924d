/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file move.h
 * @brief Pages that are emptied, so that another class gets them.
 *
 * An item of the page that was used lately goes to another page of its class
 * (store/memory/rescue.h). In a space that does not evict, each living one does.
 * The others are removed. The end of a value in pieces goes to another page, too,
 * and a page with a head stays, as long as there is another way: to remove the
 * values of a page of heads would empty the space.
 *
 * Lock:  the caller has the lock of the chunks, and no bucket. The lock is given
 *        back and taken again in between, so what the caller knew of chunks is
 *        old afterwards. A thread that has the bucket of an item is awaited
 *        without it.
 * Crash: each item of the page goes by itself. The page loses its class when it
 *        has no item.
 */
#ifndef APPPOOL_STORE_MEMORY_MOVE_H
#define APPPOOL_STORE_MEMORY_MOVE_H

#include "store/memory/age.h"

/**
 * Empty a page of the class whose items are oldest.
 * @param class_ the class that needs a page; it gives none. STORE_CLASSES: any
 * @return 1: a page is free. 0: none could be emptied
 */
int store_move_for(store_space_t *, unsigned class_);

/**
 * Empty a page of this class, the one of its oldest item if that is possible.
 * @param young an item that was used since so many s goes to another page; in a
 *              space that does not evict each living one
 * @return 1: a page is free
 */
int store_move_from(store_space_t *, unsigned class_, uint32_t young);

#endif
