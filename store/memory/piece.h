/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file piece.h
 * @brief The pieces of a value that is too large for one chunk.
 *
 * The head is an item with STORE_CHAINED. Behind its key is the reference of
 * the first piece. Each piece has STORE_PIECE_BYTES of the value, the last one
 * has the rest. A piece names its head in `flags` and its offset in `cas`.
 *
 * Lock:  the caller of store_piece_free has the lock of the chunks. The caller
 *        of the others owns the item, or holds a reference to it.
 */
#ifndef APPPOOL_STORE_MEMORY_PIECE_H
#define APPPOOL_STORE_MEMORY_PIECE_H

#include "store/memory/piece_link.h"

/** The piece with the byte at this offset. The search begins at the place, if
 * that is not behind it, and leaves it at the piece. */
store_item_t *store_piece_at(const store_space_t *, const store_item_t *head,
                             uint32_t offset, store_place_t *);

/** Give the chunks of an item back, also those of its pieces. The item is not
 * LIVE. */
void store_piece_free(store_space_t *, store_item_t *);

#endif
