/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/memory/item.h"

#include <string.h>

#include "store/clock.h"
#include "store/memory/chunk.h"
#include "store/memory/evict.h"

#define HEADER ((uint32_t)sizeof(store_item_t))

/* The check is for damage, not for attackers: odd numbers that mix well. */
#define MIX_A  UINT64_C(0x9e3779b97f4a7c15)
#define MIX_B  UINT64_C(0xd1b54a32d192ed03)

uint32_t store_item_max = UINT32_C(1) << 20;

/* With so many references the counter stays, and the item is never freed. */
#define REFS_MAX UINT16_MAX

static uint64_t mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * MIX_A;
    return h ^ h >> 32;
}

uint16_t store_item_check(const store_item_t *item)
{
    const unsigned fixed = STORE_CHAINED | STORE_CAS_CHOSEN;
    const char *key = store_item_key(item);
    uint64_t h = mix(MIX_B, store_cas(item)), word;
    unsigned n;

    h = mix(h, (uint64_t)item->flags << 32 | item->length);
    h = mix(h, item->klen | (STORE_GET(item->bits) & fixed) << 8);
    for (n = item->klen; n >= sizeof word; n -= (unsigned)sizeof word) {
        memcpy(&word, key, sizeof word);
        h = mix(h, word);
        key += sizeof word;
    }
    word = 0;
    memcpy(&word, key, n);
    h = mix(h, word);
    return (uint16_t)(h ^ h >> 16);
}

_Thread_local int store_item_spares;

static store_ref_t take_chunk(store_space_t *space, uint32_t bytes)
{
    unsigned class_ = store_class_of(bytes);
    store_ref_t ref;

    store_chunk_lock(space);
    while ((ref = store_chunk_take(space, class_)) == 0 && !store_item_spares &&
           store_evict(space, class_))
        ;
    store_chunk_unlock(space);
    return ref;
}

static store_item_t *make_header(store_space_t *space, uint32_t bytes,
                                 uint32_t length, unsigned bits)
{
    store_ref_t ref = take_chunk(space, bytes);
    store_item_t *item;

    if (!ref)
        return NULL;
    item = store_at(space, ref);
    store_cas_set(item, 0);
    STORE_SET(item->exptime, 0);
    STORE_SET(item->used, 0);
    STORE_SET(item->refs, 1);
    STORE_SET(item->bits, (uint8_t)bits);
    STORE_SET(item->flushes, 0);
    item->next = 0;
    item->flags = 0;
    item->length = length;
    item->klen = 0;
    item->check = 0;
    return item;
}

/* @return the reference of the piece; 0: no room */
static store_ref_t make_piece(store_space_t *space, const store_item_t *head,
                              uint32_t offset)
{
    uint32_t n = store_piece_length(head, offset);
    store_item_t *piece = make_header(space, HEADER + n, n, 0);

    if (!piece)
        return 0;
    piece->flags = store_ref(space, head);
    store_cas_set(piece, offset);
    piece->check = store_item_check(piece);
    store_state_set(piece, STORE_PIECE);
    return store_ref(space, piece);
}

static void link_first(store_space_t *space, store_item_t *head,
                       store_ref_t first)
{
    store_chunk_lock(space);
    memcpy(store_piece_link(head), &first, sizeof first);
    if (store_large_is(head))
        store_large_add(space, head);
    store_chunk_unlock(space);
}

static int make_pieces(store_space_t *space, store_item_t *head)
{
    store_item_t *last = NULL;
    uint32_t offset;

    for (offset = 0; offset < head->length; offset += STORE_PIECE_BYTES) {
        store_ref_t ref = make_piece(space, head, offset);

        if (!ref)
            return 0;
        if (last)
            last->next = ref;
        else
            link_first(space, head, ref);
        last = store_at(space, ref);
    }
    return 1;
}

/* One value must not evict all others, and then not fit. */
static int is_too_large(const store_space_t *space, uint32_t length)
{
    return length / (STORE_PAGE / 2) > STORE_GET(space->pages_max);
}

/* Its head, with the key. @param bits STORE_CHAINED: behind the key is a link,
 * and not the value */
static store_item_t *make_head(store_space_t *space, const void *key,
                               uint8_t klen, uint32_t length, unsigned bits)
{
    uint32_t behind = bits ? (uint32_t)sizeof(store_ref_t) : length;
    store_item_t *item =
        make_header(space, HEADER + klen + behind, length, bits);

    if (!item)
        return NULL;
    item->klen = klen;
    memcpy(store_item_key(item), key, klen);
    if (bits)
        memset(store_piece_link(item), 0, sizeof(store_ref_t));
    return item;
}

static store_item_t *make_empty(store_space_t *space, const void *key,
                                uint8_t klen, uint32_t length)
{
    int chained = length > STORE_CHUNK_MAX - HEADER - klen;
    store_item_t *item;

    if (is_too_large(space, length))
        return NULL;
    item = make_head(space, key, klen, length, chained ? STORE_CHAINED : 0);
    if (!item || !chained || make_pieces(space, item))
        return item;
    store_item_release(space, item);
    return NULL;
}

store_item_t *store_item_make(store_space_t *space, const void *key,
                              uint8_t klen, uint32_t flags, uint32_t exptime,
                              uint32_t length)
{
    store_item_t *item = make_empty(space, key, klen, length);

    if (!item)
        return NULL;
    item->flags = flags;
    STORE_SET(item->exptime, exptime);
    STORE_SET(item->used, store_clock());
    return item;
}

char *store_item_bytes(const store_space_t *space, const store_item_t *item,
                       uint32_t offset, uint32_t *n)
{
    store_place_t place = {0, 0};

    return store_item_next_bytes(space, item, offset, n, &place);
}

char *store_item_next_bytes(const store_space_t *space,
                            const store_item_t *item, uint32_t offset,
                            uint32_t *n, store_place_t *place)
{
    if (STORE_GET(item->bits) & STORE_CHAINED) {
        item = store_piece_at(space, item, offset, place);
        offset %= STORE_PIECE_BYTES;
    }
    *n = item->length - offset;
    return store_item_key(item) + item->klen + offset;
}

void store_item_read(const store_space_t *space, const store_item_t *item,
                     uint32_t offset, void *to, uint32_t n)
{
    store_place_t place = {0, 0};
    char *into = to;

    while (n > 0) {
        uint32_t some;
        const char *from =
            store_item_next_bytes(space, item, offset, &some, &place);

        some = some < n ? some : n;
        memcpy(into, from, some);
        into += some;
        offset += some;
        n -= some;
    }
}

void store_item_write(store_space_t *space, store_item_t *item, uint32_t offset,
                      const void *from, uint32_t n)
{
    store_place_t place = {0, 0};
    const char *bytes = from;

    while (n > 0) {
        uint32_t some;
        char *to = store_item_next_bytes(space, item, offset, &some, &place);

        some = some < n ? some : n;
        memcpy(to, bytes, some);
        bytes += some;
        offset += some;
        n -= some;
    }
}

void store_item_keep(store_item_t *item)
{
    uint16_t refs = STORE_GET(item->refs);

    while (refs != REFS_MAX && !__atomic_compare_exchange_n(
                                   &item->refs, &refs, (uint16_t)(refs + 1), 1,
                                   __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/* @return 1: that was the last one */
static int drop_reference(store_item_t *item)
{
    uint16_t refs = STORE_GET(item->refs);

    while (refs != REFS_MAX && !__atomic_compare_exchange_n(
                                   &item->refs, &refs, (uint16_t)(refs - 1), 1,
                                   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        ;
    return refs == 1;
}

void store_item_release(store_space_t *space, store_item_t *item)
{
    if (!drop_reference(item))
        return;
    store_chunk_lock(space);
    store_piece_free(space, item);
    store_chunk_unlock(space);
}
