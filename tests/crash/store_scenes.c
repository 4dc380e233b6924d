/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/crash/store_scenes.h"

#include <stdio.h>
#include <string.h>

#include "store/memory/chunk.h"
#include "store/memory/sweeper.h"
#include "store/memory/table.h"

#define SMALL 100
#define LARGE 9000 /* two pieces */
#define HALF  3000 /* 21 of them fill a page */

const char *store_scene_key(unsigned i)
{
    static char key[STORE_SCENE_KEYS][8];

    snprintf(key[i], sizeof key[i], "%u", i);
    return key[i];
}

static void put(shelf_t *shelf, unsigned key, uint32_t seed, uint32_t length)
{
    if (shelf_set(shelf, store_scene_key(key), seed, length, 0) == 0)
        fail();
}

/* ---- spaces ---- */

static void nothing(shelf_t *shelf)
{
    (void)shelf;
    shelf_value(7, LARGE);
}

static void two_small(shelf_t *shelf)
{
    put(shelf, 1, 1, SMALL);
    put(shelf, 2, 2, SMALL);
    shelf_value(7, LARGE);
}

static void two_large(shelf_t *shelf)
{
    put(shelf, 1, 1, LARGE);
    put(shelf, 2, 2, LARGE);
    shelf_value(7, LARGE);
}

/* All pages are of one class, and have no free chunk. */
static void full(shelf_t *shelf)
{
    unsigned i;

    for (i = 1;
         i <= STORE_SCENE_PAGES * store_class_chunks(store_class_of(HALF + 40));
         i++)
        put(shelf, i, i, HALF);
    shelf_value(7, LARGE);
}

static void full_of_large(shelf_t *shelf)
{
    unsigned i;

    for (i = 1; i <= 40; i++)
        put(shelf, i, i, LARGE);
    shelf_later(shelf, 1); /* so that each run looks at the ages again */
    shelf_value(7, LARGE);
}

/* A page that had another class, and bytes that look like states. */
static void used_page(shelf_t *shelf)
{
    unsigned i;

    for (i = 1; i <= 42; i++)
        put(shelf, i, i, HALF);
    for (i = 1; i <= 42; i++)
        shelf_delete(shelf, store_scene_key(i));
    put(shelf, 1, 1, LARGE);
    shelf_value(7, LARGE);
}

static void some_expired(shelf_t *shelf)
{
    two_small(shelf);
    shelf_set(shelf, store_scene_key(3), 3, SMALL, 1);
    shelf_set(shelf, store_scene_key(4), 4, LARGE, 1);
}

/* Nothing is evicted, and of so many items one is left: each page has some. */
static void leave_some(shelf_t *shelf, uint32_t length, unsigned each)
{
    unsigned i, n = 0;

    shelf->options.evict = 0;
    store_space_configure(shelf->space, &shelf->options);
    while (n + 1 < STORE_SCENE_KEYS &&
           shelf_set(shelf, store_scene_key(n + 1), n + 1, length, 0))
        n++;
    for (i = 1; i <= n; i++)
        if (i % each)
            shelf_delete(shelf, store_scene_key(i));
    shelf_value(7, LARGE);
}

static void nearly_empty(shelf_t *shelf)
{
    leave_some(shelf, HALF, 8);
}

static void nearly_empty_of_large(shelf_t *shelf)
{
    leave_some(shelf, LARGE, 6);
}

/* What a store leaves that is killed in the middle of several things. */
static void unfinished(shelf_t *shelf)
{
    store_item_t *item, *other;

    two_large(shelf);
    put(shelf, 3, 3, SMALL);
    put(shelf, 4, 4, SMALL);
    store_item_make(shelf->space, "9", 1, 0, 0, LARGE);
    item = shelf_take(shelf, store_scene_key(3));
    other = shelf_take(shelf, store_scene_key(4));
    *store_item_key(item) = '4'; /* an older one of the same key */
    item->check = store_item_check(item);
    shelf_delete(shelf, store_scene_key(2));
    (void)other;
}

/* ---- what is done there ---- */

static void set_small(shelf_t *shelf)
{
    put(shelf, 1, 7, SMALL);
}

static void set_new_small(shelf_t *shelf)
{
    put(shelf, 0, 7, SMALL);
}

static void set_large(shelf_t *shelf)
{
    put(shelf, 1, 7, LARGE);
}

static void set_new(shelf_t *shelf)
{
    put(shelf, 0, 7, HALF);
}

static void set_new_large(shelf_t *shelf)
{
    put(shelf, 0, 7, LARGE);
}

static void set_chosen(shelf_t *shelf)
{
    store_bucket_t b;
    store_item_t *item = store_item_make(shelf->space, "1", 1, 7, 0, SMALL);

    store_item_write(shelf->space, item, 0, shelf_value(7, SMALL), SMALL);
    store_index_lock(&b, shelf->space, "1", 1);
    store_index_put(&b, item, store_index_find(&b, NULL), UINT64_MAX);
    store_index_unlock(&b);
    store_item_release(shelf->space, item);
}

/* For one who goes over all buckets: that of this key. */
static uint32_t bucket_of(const shelf_t *shelf, const char *key)
{
    store_table_t *table = shelf->space->table;
    uint32_t cursor = 0;

    store_table_begin(table, &cursor);
    return cursor | ((uint32_t)store_table_hash(key, strlen(key)) &
                     (store_table_buckets(table) - 1));
}

static void age_one(shelf_t *shelf)
{
    uint32_t bucket = bucket_of(shelf, "1");

    store_index_age(shelf->space, &bucket, 1);
}

static void one_is_old(shelf_t *shelf)
{
    two_small(shelf);
    age_one(shelf);
}

/* Another master may have given a lower cas. */
static void copy_one(shelf_t *shelf)
{
    store_bucket_t b;
    store_item_t *item = store_item_make(shelf->space, "1", 1, 7, 0, SMALL);

    store_item_write(shelf->space, item, 0, shelf_value(7, SMALL), SMALL);
    store_index_lock(&b, shelf->space, "1", 1);
    store_index_put_copy(&b, item, store_index_find(&b, NULL), 1, 0);
    store_index_unlock(&b);
    store_item_release(shelf->space, item);
}

static void end_copy(shelf_t *shelf)
{
    uint32_t bucket = bucket_of(shelf, "1");

    store_index_clear(shelf->space, &bucket, 1, STORE_CLEAR_OLD);
}

static void delete_one(shelf_t *shelf)
{
    shelf_delete(shelf, store_scene_key(1));
}

static void delete_with_reference(shelf_t *shelf)
{
    store_item_t *item = shelf_take(shelf, store_scene_key(1));

    shelf_delete(shelf, store_scene_key(1));
    put(shelf, 0, 7, SMALL);
    store_item_release(shelf->space, item);
}

static void touch(shelf_t *shelf)
{
    store_bucket_t b;
    store_item_t *item;

    store_index_lock(&b, shelf->space, "1", 1);
    item = store_index_find(&b, NULL);
    store_index_touch(&b, item, 1); /* expired */
    store_index_bits(&b, item, STORE_STALE, 0);
    store_index_unlock(&b);
}

static void flush(shelf_t *shelf)
{
    store_space_flush(shelf->space, 0);
}

static void sweep(shelf_t *shelf)
{
    while (store_sweeper_run(shelf->space, 1000))
        ;
}

static void shrink(shelf_t *shelf)
{
    shelf->options.size = (STORE_SCENE_PAGES - 1) * STORE_PAGE;
    store_space_configure(shelf->space, &shelf->options);
    sweep(shelf);
}

const store_scene_t store_scenes[] = {
    {"the first item of a space", nothing, set_small, 0},
    {"a new small item", two_large, set_new, 0},
    {"a new large item", two_small, set_new_large, 0},
    {"small replaces small", two_small, set_small, 0},
    {"large replaces small", two_small, set_large, 0},
    {"small replaces large", two_large, set_small, 0},
    {"large replaces large", two_large, set_large, 0},
    {"with a chosen cas", two_small, set_chosen, 0},
    {"an item is of the old copy", two_small, age_one, 0},
    {"the new copy has another value", one_is_old, copy_one, 0},
    {"the new copy has none", one_is_old, end_copy, 1},
    {"a small one is deleted", two_small, delete_one, 0},
    {"a large one is deleted", two_large, delete_one, 0},
    {"deleted while it is read", two_large, delete_with_reference, 1},
    {"touched, and marked as stale", two_small, touch, 0},
    {"flushed", two_large, flush, 0},
    {"an eviction", full, set_new, 1},
    {"an eviction of large ones", full_of_large, set_new_large, 1},
    {"a page moves to another class", full, set_new_small, 1},
    {"large ones become small ones", full_of_large, set_new_small, 1},
    {"items leave a page", nearly_empty, set_new_small, 0},
    {"pieces leave a page", nearly_empty_of_large, set_new, 0},
    {"a free page gets another class", used_page, set_small, 0},
    {"the sweeper", some_expired, sweep, 0},
    {"the space becomes smaller", full, shrink, 1},
    {"a recovery", unfinished, shelf_start, 0},
};
const unsigned n_store_scenes = sizeof store_scenes / sizeof *store_scenes;
