/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/memory/piece.h"

#include "store/memory/chunk.h"
#include "store/memory/large.h"

store_item_t *store_piece_at(const store_space_t *space,
                             const store_item_t *head, uint32_t offset,
                             store_place_t *place)
{
    if (place->piece == 0 || place->offset > offset)
        *place = (store_place_t){store_piece_first(head), 0};
    for (; offset - place->offset >= STORE_PIECE_BYTES;
         place->offset += STORE_PIECE_BYTES)
        place->piece = store_at(space, place->piece)->next;
    return store_at(space, place->piece);
}

/* The head is not LIVE: after a crash in between, the pieces that are left are
 * free, because no head reaches them. */
void store_piece_free(store_space_t *space, store_item_t *item)
{
    store_ref_t ref = 0;

    if (STORE_GET(item->bits) & STORE_CHAINED)
        ref = store_piece_first(item);
    if (ref && store_large_is(item))
        store_large_remove(space, item);
    store_chunk_give(space, store_ref(space, item));
    while (ref) {
        store_ref_t next = store_at(space, ref)->next;

        store_chunk_give(space, ref);
        ref = next;
    }
}
