/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/memory/space.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "store/atomic.h"
#include "store/clock.h"
#include "store/memory/changes.h"
#include "store/memory/chunk.h"
#include "store/memory/item.h"
#include "store/memory/region.h"
#include "store/memory/sweeper.h"
#include "store/memory/table.h"
#include "store/memory/extent.h"

#define BUCKETS 1024 /* that are emptied at once */

/* ---- recovery ---- */

/* The pages of a space become its index, its free chunks and its counts.
 *
 * Each item has to prove what format.h promises. What cannot be proved is
 * dropped and counted. Of two items of one key the one with the higher cas
 * stays.
 *
 * Lock:  before any other thread has the space.
 * Crash: it only makes chunks FREE, so it may be repeated.
 * Trust: nothing in the extent and in the entry of the space is believed. No
 *        byte outside of the pages is read or written. */

#define HEADER  ((uint32_t)sizeof(store_item_t))

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

/* The space has an empty index and no known page.
 * @param progress called after each page; NULL: nothing is called */
static void store_recover(store_space_t *space, void (*progress)(void))
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

/* Held from the note in the list of changes until the items are dead. So the
 * notes are in the order of the flushes. */
static pthread_mutex_t flushing = PTHREAD_MUTEX_INITIALIZER;

/* @return the entry with this name, or a free one; STORE_SPACES: none */
static unsigned find_entry(const char *name)
{
    store_directory_t *directory = store_region_directory();
    unsigned i, free_one = STORE_SPACES;

    for (i = 0; i < STORE_SPACES; i++) {
        store_entry_t *entry = &directory->entry[i];

        entry->name[STORE_NAME - 1] = '\0';
        if (strcmp(entry->name, name) == 0)
            return i;
        if (entry->name[0] == '\0' && free_one == STORE_SPACES)
            free_one = i;
    }
    return free_one;
}

/* The first byte of the name makes it an entry. */
static void make_entry(store_entry_t *entry, const char *name)
{
    memset(entry, 0, sizeof *entry);
    strncpy(entry->name + 1, name + 1, STORE_NAME - 2);
    STORE_SET_RELEASE(entry->name[0], name[0]);
}

static int attach(store_space_t *space, const store_space_options_t *options)
{
    space->base = store_region_extent(space->slot);
    if (!space->base)
        return -1;
    space->table = store_table_make(options->size);
    space->chunks = store_chunk_make();
    space->sweep = store_sweeper_make();
    if (space->table && space->chunks && space->sweep)
        return 0;
    errno = ENOMEM;
    return -1;
}

store_space_t *store_space_open(const store_space_options_t *options)
{
    size_t length = strlen(options->name);
    store_space_t *space;
    unsigned slot;

    if (length == 0 || length >= STORE_NAME) {
        errno = EINVAL;
        return NULL;
    }
    slot = find_entry(options->name);
    if (slot == STORE_SPACES) {
        errno = ENOSPC;
        return NULL;
    }
    space = calloc(1, sizeof *space);
    if (!space)
        return NULL;
    space->slot = slot;
    space->entry = &store_region_directory()->entry[slot];
    space->figures = &store_region_figures()->space[slot];
    if (attach(space, options) != 0) {
        store_space_close(space);
        return NULL;
    }
    if (space->entry->name[0] == '\0')
        make_entry(space->entry, options->name);
    space->name = space->entry->name;
    space->entry->gone_at = 0;
    memset(space->figures, 0, sizeof *space->figures);
    memcpy(space->figures->name, space->name, STORE_NAME);
    store_space_configure(space, options);
    store_recover(space, options->progress);
    return space;
}

void store_space_close(store_space_t *space)
{
    int error = errno;

    if (!space)
        return;
    if (space->base)
        store_region_unmap(space->base);
    store_table_free(space->table);
    store_chunk_free(space->chunks);
    store_sweeper_free(space->sweep);
    free(space);
    errno = error;
}

void store_space_configure(store_space_t *space,
                           const store_space_options_t *options)
{
    uint64_t most = STORE_EXTENT / STORE_PAGE;
    uint64_t pages = options->size / STORE_PAGE;

    STORE_SET(space->pages_max, (uint32_t)(pages < most ? pages : most));
    STORE_SET(space->evict, options->evict);
    STORE_SET(space->figures->size, options->size);
}

int store_space_grow(store_space_t *space)
{
    return store_table_grow(space,
                            (uint64_t)STORE_GET(space->pages_max) * STORE_PAGE);
}

/* What gets its cas after this is not flushed. */
static void flush(store_space_t *space)
{
    store_entry_t *entry = space->entry;
    uint64_t cas;

    pthread_mutex_lock(&flushing);
    cas = STORE_GET(entry->cas);
    STORE_SET(entry->flush_at, 0);
    store_changes_add(space, STORE_CHANGE_FLUSH, "", 0, cas);
    STORE_SET_ORDERED(entry->flushed, cas);
    STORE_ADD(entry->flushes, 1);
    pthread_mutex_unlock(&flushing);
}

void store_space_await_flushes(void)
{
    pthread_mutex_lock(&flushing);
    pthread_mutex_unlock(&flushing);
}

/* After a crash in between, all items are dead, or there is none. */
void store_space_empty(store_space_t *space, void (*progress)(void))
{
    uint32_t cursor = 0;

    flush(space);
    while (store_index_clear(space, &cursor, BUCKETS, STORE_CLEAR_ALL))
        if (progress)
            progress();
    STORE_SET_ORDERED(space->entry->flushed, 0);
}

/* What was flushed has gone before the flush is forgotten. The cas of what
 * comes may be lower than the flush was. */
void store_space_age(store_space_t *space, void (*progress)(void))
{
    uint32_t cursor = 0;

    while (store_index_age(space, &cursor, BUCKETS))
        if (progress)
            progress();
    STORE_SET(space->entry->flush_at, 0);
    STORE_SET_ORDERED(space->entry->flushed, 0);
}

void store_space_forget_old(store_space_t *space, void (*progress)(void))
{
    uint32_t cursor = 0;

    while (store_index_clear(space, &cursor, BUCKETS, STORE_CLEAR_OLD))
        if (progress)
            progress();
}

static void raise_to(uint64_t *field, uint64_t least)
{
    uint64_t now = STORE_GET(*field);

    while (now < least &&
           !__atomic_compare_exchange_n(field, &now, least, 1, __ATOMIC_SEQ_CST,
                                        __ATOMIC_RELAXED))
        continue;
}

void store_space_raise_cas(store_space_t *space, uint64_t cas)
{
    raise_to(&space->entry->cas, cas);
}

void store_space_flushed(store_space_t *space, uint64_t cas)
{
    STORE_SET(space->entry->flush_at, 0);
    raise_to(&space->entry->flushed, cas);
    STORE_ADD(space->entry->flushes, 1);
}

/* A slave may join between both: it learns the time twice. */
void store_space_flush_at(store_space_t *space, uint32_t at)
{
    pthread_mutex_lock(&flushing);
    STORE_SET(space->entry->flush_at, at);
    store_changes_add(space, STORE_CHANGE_FLUSH_LATER, "", 0, 0);
    pthread_mutex_unlock(&flushing);
}

void store_space_flush(store_space_t *space, int64_t delay)
{
    int64_t at = (int64_t)store_clock() + delay;

    if (delay <= 0)
        flush(space);
    else
        store_space_flush_at(space, at < UINT32_MAX && delay < UINT32_MAX
                                        ? (uint32_t)at
                                        : UINT32_MAX);
}

void store_space_tick(store_space_t *space)
{
    uint32_t at = STORE_GET(space->entry->flush_at);

    if (at != 0 && at <= store_clock())
        flush(space);
}
