/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Any memfd as the one that a store has left: the recovery ends, stays in
 * bounds, and leaves a space in which all invariants hold, and still hold after
 * any use of it.
 *
 * Input: decisions. They make an entry, pages and items. Many items have a
 * right check, because otherwise only the check would be tested. */

#include <stdlib.h>
#include <string.h>

#include "store/memory/chunk.h"
#include "store/memory/region.h"
#include "store/memory/sweeper.h"
#include "tests/fuzz/dice.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/support/shelf.h"

#define PAGES 8

static shelf_t shelf;

static uint32_t any_ref(dice_t *d, unsigned class_)
{
    uint32_t page = dice(d, PAGES + 1);

    if (dice(d, 16) == 0)
        return dice(d, UINT32_MAX);
    return store_page_ref(page, (uint16_t)(STORE_PAGE_FIRST +
                                           dice(d, store_class_chunks(class_)) *
                                               store_page_step(class_)));
}

static uint32_t any_length(dice_t *d)
{
    switch (dice(d, 4)) {
    case 0:
        return dice(d, UINT32_MAX);
    case 1:
        return STORE_PIECE_BYTES;
    default:
        return dice(d, 3 * STORE_PIECE_BYTES);
    }
}

/* Some fields of a chunk; the rest is as it was. */
static void make_chunk(dice_t *d, store_item_t *item, unsigned class_)
{
    store_ref_t link = any_ref(d, STORE_CLASSES - 1);
    uint32_t room = store_class_size[class_] - (uint32_t)sizeof *item;

    item->state = (uint8_t)dice(d, 6);
    item->bits = (uint8_t)dice(d, 64);
    item->klen = item->state == STORE_PIECE ? 0 : (uint8_t)(1 + dice(d, 255));
    item->klen = item->klen > room ? (uint8_t)(1 + dice(d, room)) : item->klen;
    item->refs = (uint16_t)dice(d, 65536);
    item->next = dice(d, 2) ? any_ref(d, STORE_CLASSES - 1) : 0;
    item->exptime = dice(d, 3);
    item->flags =
        item->state == STORE_PIECE ? any_ref(d, dice(d, 4)) : dice(d, 3);
    item->length = dice(d, 2) ? any_length(d) : dice(d, room);
    store_cas_set(item, item->state == STORE_PIECE
                            ? dice(d, 4) * STORE_PIECE_BYTES
                            : dice(d, 100));
    if ((item->bits & STORE_CHAINED) && item->klen + sizeof link <= room)
        memcpy(store_piece_link(item), &link, sizeof link);
    /* The check reads the key, which may end behind the chunk. */
    if (dice(d, 8) && item->klen <= room)
        item->check = store_item_check(item);
}

static void make_page(dice_t *d, uint32_t page)
{
    static const uint8_t classes[] = {0, 1, 10, STORE_CLASSES - 1};
    char *at = shelf.space->base + (uint64_t)page * STORE_PAGE;
    store_page_t *header = (store_page_t *)(uintptr_t)at;
    unsigned class_ = classes[dice(d, 4)], n = dice(d, 8), i;

    header->magic = dice(d, 8) ? STORE_PAGE_MAGIC : 0;
    header->class_ = (uint8_t)(dice(d, 8) ? class_ : dice(d, 256));
    at += sizeof *header;
    for (i = 0; i < n && i < store_class_chunks(class_); i++)
        make_chunk(
            d, (store_item_t *)(uintptr_t)(at + i * store_class_size[class_]),
            class_);
}

static void damage(dice_t *d)
{
    store_entry_t *entry = shelf.space->entry;
    uint32_t page;

    entry->cas = dice(d, 200);
    entry->flushed = dice(d, 4) ? 0 : dice(d, 100);
    entry->pages = dice(d, 8) ? PAGES : dice(d, UINT32_MAX);
    for (page = 0; page < PAGES; page++)
        if (dice(d, 3))
            make_page(d, page);
}

static void use(dice_t *d)
{
    static const char *const keys[] = {"a", "b", "c", "d"};
    unsigned n = dice(d, 12);

    while (n-- > 0)
        switch (dice(d, 4)) {
        case 0:
            shelf_delete(&shelf, keys[dice(d, 4)]);
            break;
        case 1:
            while (store_sweeper_run(shelf.space, 100))
                ;
            break;
        default:
            shelf_set(&shelf, keys[dice(d, 4)], 1, dice(d, 20000), 0);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dice_t d = {data, data + size};

    if (!shelf.space)
        shelf_open(&shelf, PAGES, 1);
    memset(shelf.space->entry->name + 64, 0, sizeof *shelf.space->entry - 64);
    store_region_punch(shelf.space->slot, 0, PAGES + 1);
    damage(&d);
    shelf_recover(&shelf);
    shelf_check(&shelf);
    use(&d);
    shelf_check(&shelf);
    shelf_recover(&shelf);
    shelf_check(&shelf);
    return 0;
}
