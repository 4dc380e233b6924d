/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file piece_link.h
 * @brief Where the first piece of a value is, and how long each piece is.
 *
 * Lock:  the caller owns the item, or holds a reference to it.
 * Crash: see base/store_format.h.
 */
#ifndef APPPOOL_STORE_MEMORY_PIECE_LINK_H
#define APPPOOL_STORE_MEMORY_PIECE_LINK_H

#include <string.h>

#include "store/memory/class.h"
#include "store/memory/extent.h"

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

#endif
