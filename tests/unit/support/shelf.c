/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/support/shelf.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/clock.h"
#include "store/memory/chunk.h"
#include "store/memory/region.h"
#include "store/memory/table.h"

void shelf_start(shelf_t *shelf)
{
    assert_int_equal(store_region_open(shelf->items, shelf->figures), 0);
    store_clock_set(shelf->offset);
    shelf->space = store_space_open(&shelf->options);
    assert_non_null(shelf->space);
}

void shelf_close_space(shelf_t *shelf)
{
    store_space_close(shelf->space);
    store_region_close();
}

void shelf_open(shelf_t *shelf, uint32_t pages, int evict)
{
    memset(shelf, 0, sizeof *shelf);
    shelf->items = memfd_create("items", MFD_CLOEXEC);
    shelf->figures = memfd_create("figures", MFD_CLOEXEC);
    shelf->options = (store_space_options_t){
        .name = "shop", .size = (uint64_t)pages * STORE_PAGE, .evict = evict};
    shelf->offset = store_clock_offset();
    shelf_start(shelf);
}

void shelf_close(shelf_t *shelf)
{
    shelf_close_space(shelf);
    close(shelf->items);
    close(shelf->figures);
}

void shelf_recover(shelf_t *shelf)
{
    shelf_close_space(shelf);
    shelf_start(shelf);
}

void shelf_later(shelf_t *shelf, int64_t seconds)
{
    shelf->offset += seconds;
    store_clock_set(shelf->offset);
}

/* Only this thread knows these bytes. ThreadSanitizer would note each of them,
 * which takes longer than the rest of some tests. */
__attribute__((no_sanitize("thread"))) const char *shelf_value(uint32_t seed,
                                                               uint32_t length)
{
    static _Thread_local char value[1 << 20];
    static _Thread_local uint32_t last_seed, last_length;
    uint32_t i;

    assert_true(length <= sizeof value);
    if (last_seed == seed && last_length >= length)
        return value;
    for (i = 0; i < length; i++)
        value[i] = (char)((seed * 2654435761U + i * 40503U) >> 13);
    last_seed = seed;
    last_length = length;
    return value;
}

static uint8_t length_of(const char *key)
{
    return (uint8_t)strlen(key);
}

uint64_t shelf_set(shelf_t *shelf, const char *key, uint32_t seed,
                   uint32_t length, uint32_t exptime)
{
    store_bucket_t bucket;
    store_item_t *item = store_item_make(shelf->space, key, length_of(key),
                                         seed, exptime, length);
    const char *value = shelf_value(seed, length);
    uint64_t cas;

    if (!item)
        return 0;
    /* In two parts, which do not end where a piece ends. */
    store_item_write(shelf->space, item, 0, value, length / 3);
    store_item_write(shelf->space, item, length / 3, value + length / 3,
                     length - length / 3);
    store_index_lock(&bucket, shelf->space, key, length_of(key));
    cas = store_index_put(&bucket, item, store_index_find(&bucket, NULL), 0);
    store_index_unlock(&bucket);
    store_item_release(shelf->space, item);
    return cas;
}

store_item_t *shelf_take(shelf_t *shelf, const char *key)
{
    store_bucket_t bucket;
    store_item_t *item;

    store_index_lock(&bucket, shelf->space, key, length_of(key));
    item = store_index_find(&bucket, NULL);
    if (item) {
        store_index_fetched(&bucket, item);
        store_item_keep(item);
    }
    store_index_unlock(&bucket);
    return item;
}

int shelf_is(shelf_t *shelf, const store_item_t *item, uint32_t seed,
             uint32_t length)
{
    char *value = malloc(length + 1);
    int same;

    store_item_read(shelf->space, item, 0, value,
                    item->length < length ? item->length : length);
    same = item->length == length && item->flags == seed &&
           memcmp(value, shelf_value(seed, length), length) == 0;
    free(value);
    return same;
}

int shelf_get(shelf_t *shelf, const char *key, uint32_t seed, uint32_t length)
{
    store_item_t *item = shelf_take(shelf, key);

    if (!item)
        return 0;
    assert_true(shelf_is(shelf, item, seed, length));
    store_item_release(shelf->space, item);
    return 1;
}

int shelf_delete(shelf_t *shelf, const char *key)
{
    store_bucket_t bucket;
    store_item_t *item;

    store_index_lock(&bucket, shelf->space, key, length_of(key));
    item = store_index_find(&bucket, NULL);
    if (item)
        store_index_remove(&bucket, item);
    store_index_unlock(&bucket);
    return item != NULL;
}

/* ---- invariants ---- */

static store_item_t *look_up(shelf_t *shelf, const store_item_t *item)
{
    uint64_t hash = store_table_hash(store_item_key(item), item->klen);
    store_ref_t ref = *store_table_bucket(shelf->space->table, hash);

    while (ref && store_at(shelf->space, ref) != item)
        ref = store_at(shelf->space, ref)->next;
    return ref ? store_at(shelf->space, ref) : NULL;
}

/* @return 0, or how many chunks its pieces have, if it is a large value */
static uint32_t large_chunks(const store_item_t *item)
{
    return store_large_is(item)
               ? (item->length + STORE_PIECE_BYTES - 1) / STORE_PIECE_BYTES
               : 0;
}

static void check_live(shelf_t *shelf, const store_item_t *item)
{
    assert_ptr_equal(look_up(shelf, item), item);
    assert_int_equal(item->refs, 1);
    assert_int_equal(item->check, store_item_check(item));
}

/* @return how many of its chunks are used */
static unsigned check_page(shelf_t *shelf, uint32_t page, unsigned *items,
                           uint64_t *bytes, uint32_t *large)
{
    const store_space_t *space = shelf->space;
    int class_ = store_chunk_class(space, page);
    unsigned i, used = 0;

    if (class_ < 0)
        return 0;
    for (i = 0; i < store_class_chunks((unsigned)class_); i++) {
        const store_item_t *item =
            (const void *)(space->base + page * (uint64_t)STORE_PAGE +
                           sizeof(store_page_t) + i * store_class_size[class_]);

        if (item->state == STORE_LIVE) {
            check_live(shelf, item);
            ++*items;
            *bytes += store_item_size(item);
            *large += large_chunks(item);
        }
        else if (item->state == STORE_PIECE)
            assert_int_equal(store_at(space, item->flags)->state, STORE_LIVE);
        else
            assert_int_equal(item->state, STORE_FREE);
        used += item->state != STORE_FREE;
    }
    return used;
}

static uint64_t memory_of(const shelf_t *shelf)
{
    struct stat st;

    fstat(shelf->items, &st);
    return (uint64_t)st.st_blocks * 512;
}

unsigned shelf_check(shelf_t *shelf)
{
    const store_space_t *space = shelf->space;
    unsigned items = 0, used = 0, i, stat_pages = 0, stat_used = 0;
    uint64_t bytes = 0;
    uint32_t page, large = 0;

    for (page = 0; page < space->entry->pages; page++)
        used += check_page(shelf, page, &items, &bytes, &large);
    assert_int_equal(space->large_chunks, large);
    for (i = 0; i < STORE_CLASSES; i++) {
        const store_class_stat_t *stat = store_chunk_stat(shelf->space, i);

        stat_pages += stat->pages;
        stat_used += (unsigned)stat->used;
    }
    assert_int_equal(used, stat_used);
    assert_true(stat_pages <= space->pages_max);
    assert_int_equal(space->figures->items, items);
    assert_int_equal(space->figures->item_bytes, bytes);
    assert_true(memory_of(shelf) <= (uint64_t)space->pages_max * STORE_PAGE +
                                        sizeof(store_directory_t) + 4096);
    return items;
}
