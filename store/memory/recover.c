/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/memory/recover.h"

#include <string.h>

#include "store/clock.h"
#include "store/memory/chunk.h"
#include "store/memory/item.h"
#include "store/memory/region.h"
#include "store/memory/table.h"

#define HEADER ((uint32_t)sizeof(store_item_t))

/* Does the chain of a LIVE item lead to a piece? */
enum { UNREACHED, REACHED };

/* ---- pages ---- */

static const store_page_t *page_at(const store_space_t *space, uint32_t page)
{
    return (const store_page_t *)(uintptr_t)(space->base +
                                             (uint64_t)page * STORE_PAGE);
}

/* @return the class of a page; -1: it has none */
static int class_of(const store_space_t *space, uint32_t page)
{
    const store_page_t *p = page_at(space, page);

    if (p->magic != STORE_PAGE_MAGIC || p->class_ >= STORE_CLASSES)
        return -1;
    return p->class_;
}

typedef void visit_t(store_space_t *, store_item_t *, uint32_t chunk_size);

/* Each chunk of a page that has a class. */
static void visit_page(store_space_t *space, uint32_t page, visit_t *visit)
{
    int class_ = class_of(space, page);
    uint32_t size, i;
    char *at;

    if (class_ < 0)
        return;
    size = store_class_size[class_];
    at = space->base + (uint64_t)page * STORE_PAGE + sizeof(store_page_t);
    for (i = store_class_chunks((unsigned)class_); i > 0; i--) {
        visit(space, (store_item_t *)(uintptr_t)at, size);
        at += size;
    }
}

static void visit_all(store_space_t *space, visit_t *visit,
                      void (*progress)(void))
{
    uint32_t page;

    for (page = 0; page < space->entry->pages; page++) {
        visit_page(space, page, visit);
        if (progress)
            progress();
    }
}

/* ---- pieces ---- */

/* @return the chunk that a reference names, or NULL: it names none */
static store_item_t *chunk_at(const store_space_t *space, store_ref_t ref,
                              uint32_t *size)
{
    uint32_t page = store_chunk_page(ref), offset;
    int class_ = page < space->entry->pages ? class_of(space, page) : -1;

    if (class_ < 0)
        return NULL;
    *size = store_class_size[class_];
    offset = ref % (STORE_PAGE / STORE_UNIT) * STORE_UNIT;
    if (offset < sizeof(store_page_t) ||
        (offset - sizeof(store_page_t)) % *size != 0 ||
        offset + *size > STORE_PAGE)
        return NULL;
    return store_at(space, ref);
}

/* @param offset of the piece in the value
 * @return the piece, or NULL: the chain is broken here */
static store_item_t *piece_at(const store_space_t *space,
                              const store_item_t *head, store_ref_t ref,
                              uint32_t offset)
{
    uint32_t size = 0;
    store_item_t *piece = chunk_at(space, ref, &size);

    if (!piece || piece->state != STORE_PIECE || piece->klen != 0 ||
        piece->flags != store_ref(space, head) || store_cas(piece) != offset ||
        piece->length != store_piece_length(head, offset) ||
        piece->length > size - HEADER ||
        piece->check != store_item_check(piece))
        return NULL;
    return piece;
}

/* Offsets rise, so no chain is endless.
 * @return 0: a piece is missing */
static int check_pieces(store_space_t *space, const store_item_t *head,
                        int reached)
{
    store_ref_t ref = store_piece_first(head);
    uint64_t offset;

    for (offset = 0; offset < head->length; offset += STORE_PIECE_BYTES) {
        store_item_t *piece = piece_at(space, head, ref, (uint32_t)offset);

        if (!piece)
            return 0;
        if (reached)
            piece->refs = REACHED;
        ref = piece->next;
    }
    return ref == 0;
}

/* ---- items ---- */

/* An older build had large values in files, which ended with their store. Such
 * a head has the length of its value and no room for it, so it is dropped. */
static int is_sound(store_space_t *space, const store_item_t *item,
                    uint32_t size)
{
    unsigned bits = item->bits;
    uint32_t room = size - HEADER;

    if (item->klen == 0 || item->klen > STORE_KEY_MAX || item->klen > room)
        return 0;
    room -= item->klen;
    if ((bits & STORE_CHAINED) ? room < sizeof(store_ref_t)
                               : item->length > room)
        return 0;
    if (!(bits & STORE_CAS_CHOSEN) && store_cas(item) > space->entry->cas)
        return 0;
    if (item->check != store_item_check(item))
        return 0;
    return !(bits & STORE_CHAINED) || check_pieces(space, item, 0);
}

/* The sound items of a page. To link an item needs its bucket, and the items
 * there: memory that is far away. So it is fetched for all of them before. */
typedef struct {
    store_item_t *item;
    uint64_t hash;
} sound_t;

static sound_t sound[STORE_PAGE / 48];
static unsigned n_sound;
static int any_chained;

static store_item_t *same_key(store_space_t *space, const sound_t *s)
{
    store_ref_t ref = *store_table_bucket(space->table, s->hash);
    const store_item_t *item = s->item;

    for (; ref; ref = store_at(space, ref)->next) {
        store_item_t *other = store_at(space, ref);

        if (other->klen == item->klen &&
            memcmp(store_item_key(other), store_item_key(item), item->klen) ==
                0)
            return other;
    }
    return NULL;
}

static void drop(store_item_t *item)
{
    store_state_set(item, STORE_FREE);
}

/* The cas of an old copy may be of another master, and higher. */
static int is_newer(const store_item_t *a, const store_item_t *b)
{
    unsigned differ = (a->bits ^ b->bits) & STORE_OLD_COPY;

    return differ ? !(a->bits & STORE_OLD_COPY) : store_cas(a) >= store_cas(b);
}

/* Link it, unless a newer one has its key. */
static void link_newest(store_space_t *space, const sound_t *s)
{
    store_item_t *other = same_key(space, s);

    if (other && is_newer(other, s->item)) {
        drop(s->item);
        return;
    }
    if (other) {
        store_table_unlink(space, s->hash, other);
        drop(other);
    }
    s->item->refs = 1;
    s->item->bits &= (uint8_t)~STORE_LOCKED;
    store_table_link(space, s->hash, s->item);
}

static void link_all(store_space_t *space)
{
    unsigned i;

    for (i = 0; i < n_sound; i++)
        __builtin_prefetch(
            store_at(space, *store_table_bucket(space->table, sound[i].hash)));
    for (i = 0; i < n_sound; i++)
        link_newest(space, &sound[i]);
    n_sound = 0;
}

static void visit_item(store_space_t *space, store_item_t *item, uint32_t size)
{
    sound_t *s = &sound[n_sound];

    switch (item->state) {
    case STORE_FREE:
        return;
    case STORE_LIVE:
        if (is_sound(space, item, size)) {
            s->item = item;
            s->hash = store_table_hash(store_item_key(item), item->klen);
            __builtin_prefetch(store_table_bucket(space->table, s->hash));
            any_chained |= item->bits & STORE_CHAINED;
            n_sound++;
            return;
        }
        space->figures->dropped++;
        break;
    case STORE_PIECE:
        item->refs = UNREACHED;
        return;
    default: /* WRITING, or damage */
        break;
    }
    drop(item);
}

static void visit_chain(store_space_t *space, store_item_t *item, uint32_t size)
{
    (void)size;
    if (item->state == STORE_LIVE && (item->bits & STORE_CHAINED)) {
        check_pieces(space, item, 1);
        if (store_large_is(item))
            store_large_add(space, item);
    }
}

static void visit_chunk(store_space_t *space, store_item_t *item, uint32_t size)
{
    store_space_figures_t *figures = space->figures;

    (void)size;
    if (item->state == STORE_PIECE && item->refs == UNREACHED)
        drop(item);
    if (item->state == STORE_LIVE) {
        figures->recovered++;
        figures->item_bytes += store_item_size(item);
    }
    if (item->state != STORE_FREE)
        store_chunk_found(space, store_ref(space, item));
}

void store_recover(store_space_t *space, void (*progress)(void))
{
    uint32_t most = store_region_pages(space->slot), page;

    if (space->entry->pages > most)
        space->entry->pages = most;
    /* A page behind the last one counts as zeroed. */
    store_region_punch(space->slot, space->entry->pages,
                       most - space->entry->pages);
    any_chained = 0;
    for (page = 0; page < space->entry->pages; page++) {
        int class_ = class_of(space, page);

        if (class_ < 0)
            continue;
        store_chunk_found_page(space, page, (unsigned)class_);
        visit_page(space, page, visit_item);
        if (progress)
            progress();
        link_all(space);
    }
    if (any_chained)
        visit_all(space, visit_chain, progress);
    visit_all(space, visit_chunk, progress);
    space->figures->items = space->figures->recovered;
    store_chunk_found_all(space);
}
