/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/memory/item.h"

#include <string.h>

#include "store/clock.h"
#include "store/memory/changes.h"
#include "store/memory/chunk.h"
#include "store/memory/evict.h"
#include "store/memory/table.h"

#define HEADER ((uint32_t)sizeof(store_item_t))

/* ---- make one ---- */

uint32_t store_item_max = UINT32_C(1) << 20;
_Thread_local int store_item_spares;

/* The check is for damage, not for attackers: odd numbers that mix well. */
#define MIX_A UINT64_C(0x9e3779b97f4a7c15)
#define MIX_B UINT64_C(0xd1b54a32d192ed03)

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

/* ---- its value ---- */

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

/* ---- references ---- */

/* With so many references the counter stays, and the item is never freed. */
#define REFS_MAX UINT16_MAX

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

/* ---- the index ---- */

/* A slave has these bits, too. They may change while an item is LIVE. */
#define SENT_BITS    (STORE_STALE | STORE_TOKEN_SENT | STORE_KEY_BINARY)

/* s: of lag, and of the part of a second that the clocks of two stores
 * differ */
#define EXPIRES_SOON 60

void store_index_lock(store_bucket_t *b, store_space_t *space, const void *key,
                      uint8_t klen)
{
    b->space = space;
    b->key = key;
    b->klen = klen;
    b->hash = store_table_hash(key, klen);
    store_table_lock(space->table, b->hash);
}

void store_index_unlock(store_bucket_t *b)
{
    store_table_unlock(b->space->table, b->hash);
}

static store_item_t *look_up(const store_bucket_t *b)
{
    store_ref_t ref = *store_table_bucket(b->space->table, b->hash);

    while (ref) {
        store_item_t *item = store_at(b->space, ref);

        if (item->klen == b->klen &&
            memcmp(store_item_key(item), b->key, b->klen) == 0)
            return item;
        ref = item->next;
    }
    return NULL;
}

store_item_t *store_index_find(store_bucket_t *b, store_absent_t *why)
{
    store_item_t *item = look_up(b);
    store_absent_t absent = STORE_ABSENT_NEVER;

    if (item && store_flushed(b->space, item))
        absent = STORE_ABSENT_FLUSHED;
    else if (item && store_expired(item, store_clock()))
        absent = STORE_ABSENT_EXPIRED;
    else if (item)
        return item;
    if (item)
        store_index_remove(b, item);
    if (why)
        *why = absent;
    return NULL;
}

/* Only when something changes, so that a read does not make the cache line
 * dirty. */
void store_index_fetched(store_bucket_t *b, store_item_t *item)
{
    uint32_t now = store_clock();

    if (STORE_GET(item->used) != now)
        STORE_SET(item->used, now);
    if (!(STORE_GET(item->bits) & STORE_FETCHED))
        store_index_bits(b, item, STORE_FETCHED, 0);
}

/* An item that is not published yet is no change. */
static void note(const store_bucket_t *b, const store_item_t *item,
                 store_change_kind_t kind)
{
    if (store_state(item) == STORE_LIVE)
        store_changes_add(b->space, kind, b->key, b->klen, store_cas(item));
}

void store_index_touch(store_bucket_t *b, store_item_t *item, uint32_t exptime)
{
    uint32_t old = STORE_GET(item->exptime);

    if (old == exptime)
        return;
    STORE_SET(item->exptime, exptime);
    /* A slave may have let it expire by then, so it needs the value. */
    note(b, item,
         old != 0 && old < store_clock() + EXPIRES_SOON ? STORE_CHANGE_PUT
                                                        : STORE_CHANGE_TOUCH);
}

void store_index_bits(store_bucket_t *b, store_item_t *item, unsigned set,
                      unsigned clear)
{
    unsigned old = STORE_GET(item->bits), bits = (old & ~clear) | set;

    STORE_SET(item->bits, (uint8_t)bits);
    if ((old ^ bits) & SENT_BITS)
        note(b, item, STORE_CHANGE_PUT);
}

static uint64_t give_cas(store_space_t *space, store_item_t *item, uint64_t cas)
{
    if (cas) {
        STORE_SET(item->bits,
                  (uint8_t)(STORE_GET(item->bits) | STORE_CAS_CHOSEN));
        STORE_SET(item->flushes, (uint8_t)STORE_GET(space->entry->flushes));
    }
    else
        cas = __atomic_add_fetch(&space->entry->cas, 1, __ATOMIC_RELAXED);
    store_cas_set(item, cas);
    return cas;
}

/* Its key and value stay as long as a thread has a reference. */
static void take_out(store_bucket_t *b, store_item_t *item)
{
    store_space_figures_t *figures = b->space->figures;

    store_table_unlink(b->space, b->hash, item);
    store_state_set(item, STORE_FREE);
    STORE_ADD(figures->items, (uint64_t)-1);
    STORE_ADD(figures->item_bytes, -(uint64_t)store_item_size(item));
    store_item_release(b->space, item);
}

/* Nothing is acknowledged before the return, so a crash in between may leave
 * the old item, the new one, or both: the recovery takes one of them. */
static void publish(store_bucket_t *b, store_item_t *item, store_item_t *old)
{
    store_space_figures_t *figures = b->space->figures;

    item->check = store_item_check(item);
    store_item_keep(item);
    store_state_set(item, STORE_LIVE);
    store_table_link(b->space, b->hash, item);
    STORE_ADD(figures->items, 1);
    STORE_ADD(figures->items_total, 1);
    STORE_ADD(figures->item_bytes, store_item_size(item));
    if (old)
        take_out(b, old);
    note(b, item, STORE_CHANGE_PUT);
}

uint64_t store_index_put(store_bucket_t *b, store_item_t *item,
                         store_item_t *old, uint64_t cas)
{
    cas = give_cas(b->space, item, cas);
    publish(b, item, old);
    return cas;
}

/* The counter is raised first: format.h, invariant 6. */
static void raise_cas(store_space_t *space, uint64_t cas)
{
    uint64_t counter = STORE_GET(space->entry->cas);

    while (counter < cas &&
           !__atomic_compare_exchange_n(&space->entry->cas, &counter, cas, 1,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

void store_index_put_copy(store_bucket_t *b, store_item_t *item,
                          store_item_t *old, uint64_t cas, unsigned bits)
{
    STORE_SET(item->bits,
              (uint8_t)(STORE_GET(item->bits) | (bits & SENT_BITS)));
    if (cas == 0 || bits & STORE_CAS_CHOSEN)
        give_cas(b->space, item, cas);
    else {
        raise_cas(b->space, cas);
        store_cas_set(item, cas);
    }
    publish(b, item, old);
}

void store_index_remove(store_bucket_t *b, store_item_t *item)
{
    note(b, item, STORE_CHANGE_REMOVE);
    take_out(b, item);
}

/* ---- all buckets ---- */

#define FETCHED 64 /* buckets whose items are fetched at once */

/* Items are in memory that is far away: fetch the first one of each bucket, or
 * the one behind it. No lock is between the fetches, because it would wait for
 * each of them. */
static void fetch(store_space_t *space, uint32_t cursor, unsigned n, int second)
{
    store_ref_t ref[FETCHED];
    unsigned found = 0;
    int more = 1;

    for (; n > 0 && more; n--) {
        store_table_lock(space->table, cursor);
        ref[found] = *store_table_bucket(
            space->table, store_table_part(space->table, cursor, 0));
        if (ref[found] && second)
            ref[found] = store_at(space, ref[found])->next;
        found += ref[found] != 0;
        store_table_unlock(space->table, cursor);
        more = store_table_next(&cursor);
    }
    while (found > 0)
        __builtin_prefetch(store_at(space, ref[--found]));
}

static int each_bucket(store_space_t *space, uint32_t *cursor, unsigned n,
                       void (*on_bucket)(store_space_t *, uint64_t hash,
                                         const void *ctx),
                       const void *ctx)
{
    unsigned at;
    int more = 1;

    for (at = 0; at < n && more; at++) {
        uint64_t hash, part;

        store_table_begin(space->table, cursor);
        if (at % FETCHED == 0 && n > 1) {
            unsigned some = n - at < FETCHED ? n - at : FETCHED;

            fetch(space, *cursor, some, 0);
            fetch(space, *cursor, some, 1);
        }
        store_table_lock(space->table, *cursor);
        for (part = 0; (hash = store_table_part(space->table, *cursor, part)) !=
                       STORE_TABLE_NO_PART;
             part++)
            on_bucket(space, hash, ctx);
        store_table_unlock(space->table, *cursor);
        more = store_table_next(cursor);
    }
    return more;
}

typedef struct {
    void (*look)(void *ctx, const store_item_t *);
    void *ctx;
} look_t;

static void look_at_bucket(store_space_t *space, uint64_t hash, const void *ctx)
{
    const look_t *l = ctx;
    store_ref_t ref = *store_table_bucket(space->table, hash);

    for (; ref; ref = store_at(space, ref)->next)
        if (!store_dead(space, store_at(space, ref), store_clock()))
            l->look(l->ctx, store_at(space, ref));
}

int store_index_walk(store_space_t *space, uint32_t *cursor, unsigned n,
                     void (*look)(void *ctx, const store_item_t *), void *ctx)
{
    const look_t l = {look, ctx};

    return each_bucket(space, cursor, n, look_at_bucket, &l);
}

/* Under the lock of the bucket. The bucket has no key of its own here: each
 * item has one. */
static void clear_bucket(store_space_t *space, uint64_t hash, const void *ctx)
{
    const store_clear_t what = *(const store_clear_t *)ctx;
    store_ref_t ref = *store_table_bucket(space->table, hash);

    while (ref) {
        store_item_t *item = store_at(space, ref);
        store_bucket_t b = {space, store_item_key(item), item->klen, hash};

        ref = item->next;
        if (what == STORE_CLEAR_ALL || store_dead(space, item, store_clock()) ||
            (what == STORE_CLEAR_OLD && STORE_GET(item->bits) & STORE_OLD_COPY))
            store_index_remove(&b, item);
    }
}

static void age_bucket(store_space_t *space, uint64_t hash, const void *ctx)
{
    store_ref_t ref;

    clear_bucket(space, hash, ctx);
    for (ref = *store_table_bucket(space->table, hash); ref;
         ref = store_at(space, ref)->next) {
        store_item_t *item = store_at(space, ref);

        STORE_SET(item->bits,
                  (uint8_t)(STORE_GET(item->bits) | STORE_OLD_COPY));
    }
}

int store_index_age(store_space_t *space, uint32_t *cursor, unsigned n)
{
    const store_clear_t what = STORE_CLEAR_DEAD;

    return each_bucket(space, cursor, n, age_bucket, &what);
}

int store_index_clear(store_space_t *space, uint32_t *cursor, unsigned n,
                      store_clear_t what)
{
    return each_bucket(space, cursor, n, clear_bucket, &what);
}
