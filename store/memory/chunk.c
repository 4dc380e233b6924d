/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/memory/chunk.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "store/atomic.h"
#include "store/memory/region.h"

/* ---- classes ---- */

_Static_assert(sizeof(store_page_t) == 64, "as drawn");

const uint16_t store_class_size[STORE_CLASSES] = {48,   56,
                                                  64,   72,
                                                  88,   104,
                                                  120,  136,
                                                  160,  184,
                                                  208,  240,
                                                  272,  312,
                                                  352,  400,
                                                  456,  520,
                                                  592,  672,
                                                  760,  856,
                                                  976,  1104,
                                                  1256, 1416,
                                                  1632, 1864,
                                                  2112, 2424,
                                                  2728, 3112,
                                                  3632, 4088,
                                                  4672, 5456,
                                                  6544, STORE_CHUNK_MAX};

unsigned store_class_of(uint32_t bytes)
{
    unsigned low = 0, high = STORE_CLASSES - 1;

    while (low < high) {
        unsigned middle = (low + high) / 2;

        if (store_class_size[middle] < bytes)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- all of a space ---- */

/* Far from 0 and from n, and each chunk is met: no common divisor with n. */
static uint16_t stride_of(uint32_t n)
{
    uint32_t stride = n * 3 / 8, a, b, rest;

    do {
        stride++;
        for (a = n, b = stride; b > 0; a = b, b = rest)
            rest = a % b;
    } while (a > 1);
    return (uint16_t)stride;
}

struct store_chunks *store_chunk_make(void)
{
    struct store_chunks *chunks = calloc(1, sizeof *chunks);
    unsigned i;

    if (!chunks)
        return NULL;
    chunks->page = mmap(NULL, STORE_PAGES_MAX * sizeof *chunks->page,
                        PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (chunks->page == MAP_FAILED) {
        free(chunks);
        return NULL;
    }
    pthread_mutex_init(&chunks->lock, NULL);
    chunks->free = chunks->hole = STORE_NO_PAGE;
    for (i = 0; i < STORE_CLASSES; i++) {
        chunks->class_[i].hand = chunks->class_[i].roomy =
            chunks->class_[i].empty = chunks->class_[i].oldest_page =
                STORE_NO_PAGE;
        chunks->class_[i].stride = stride_of(store_class_chunks(i));
    }
    return chunks;
}

void store_chunk_free(struct store_chunks *chunks)
{
    if (!chunks)
        return;
    pthread_mutex_destroy(&chunks->lock);
    munmap(chunks->page, STORE_PAGES_MAX * sizeof *chunks->page);
    free(chunks);
}

void store_chunk_lock(store_space_t *space)
{
    pthread_mutex_lock(&space->chunks->lock);
}

void store_chunk_unlock(store_space_t *space)
{
    pthread_mutex_unlock(&space->chunks->lock);
}

static store_page_t *header_of(const store_space_t *space, uint32_t page)
{
    return (store_page_t *)(uintptr_t)(space->base +
                                       (uint64_t)page * STORE_PAGE);
}

/* ---- the pages of a class ---- */

static int is_full(const store_page_info_t *p)
{
    return p->free == 0 &&
           p->fresh + store_page_step(p->class_) > (int)STORE_PAGE_UNITS;
}

/* Behind all others, as seen from the hand. */
static void ring_add(struct store_chunks *chunks, store_class_info_t *c,
                     uint32_t page)
{
    store_page_info_t *p = &chunks->page[page], *hand;

    if (c->hand == STORE_NO_PAGE) {
        p->next = p->prev = page;
        c->hand = c->round = page;
        c->hand_at = c->round_at = 0;
        return;
    }
    hand = &chunks->page[c->hand];
    p->next = c->hand;
    p->prev = hand->prev;
    chunks->page[p->prev].next = page;
    hand->prev = page;
}

static void ring_remove(struct store_chunks *chunks, store_class_info_t *c,
                        uint32_t page)
{
    store_page_info_t *p = &chunks->page[page];

    if (c->round == page)
        c->round = p->next;
    if (c->hand == page)
        c->hand = p->next == page ? STORE_NO_PAGE : p->next;
    chunks->page[p->prev].next = p->next;
    chunks->page[p->next].prev = p->prev;
}

static void add_roomy(struct store_chunks *chunks, uint32_t page)
{
    store_class_info_t *c = &chunks->class_[chunks->page[page].class_];
    store_page_info_t *p = &chunks->page[page];

    p->roomy_prev = STORE_NO_PAGE;
    p->roomy_next = c->roomy;
    if (c->roomy != STORE_NO_PAGE)
        chunks->page[c->roomy].roomy_prev = page;
    c->roomy = page;
}

static void remove_roomy(struct store_chunks *chunks, uint32_t page)
{
    store_class_info_t *c = &chunks->class_[chunks->page[page].class_];
    store_page_info_t *p = &chunks->page[page];

    if (p->roomy_prev == STORE_NO_PAGE)
        c->roomy = p->roomy_next;
    else
        chunks->page[p->roomy_prev].roomy_next = p->roomy_next;
    if (p->roomy_next != STORE_NO_PAGE)
        chunks->page[p->roomy_next].roomy_prev = p->roomy_prev;
}

/* How much memory the pages have. */
static void report(const store_space_t *space)
{
    STORE_SET(space->figures->used,
              (uint64_t)STORE_PAGE *
                  (space->chunks->n_classed + space->chunks->n_free));
}

/* The page has no items: it is free for any class. */
static void release_page(store_space_t *space, uint32_t page)
{
    struct store_chunks *chunks = space->chunks;
    store_page_info_t *p = &chunks->page[page];
    store_class_info_t *c = &chunks->class_[p->class_];

    remove_roomy(chunks, page);
    ring_remove(chunks, c, page);
    c->stat.pages--;
    STORE_SET_RELEASE(header_of(space, page)->magic, 0);
    p->has_class = 0;
    p->next = chunks->free;
    chunks->free = page;
    chunks->n_classed--;
    chunks->n_free++;
}

/* ---- a page for a class ---- */

/* Bytes of an older class must not look like states. */
static void clear_states(store_space_t *space, uint32_t page, unsigned class_)
{
    uint32_t place, units = store_page_step(class_);

    for (place = STORE_PAGE_FIRST; place + units <= STORE_PAGE_UNITS;
         place += units)
        store_state_set(store_at(space, store_page_ref(page, (uint16_t)place)),
                        STORE_FREE);
}

static uint32_t take_empty(store_space_t *space)
{
    struct store_chunks *chunks = space->chunks;
    unsigned i;

    for (i = 0; i < STORE_CLASSES; i++) {
        uint32_t page = chunks->class_[i].empty;

        if (page != STORE_NO_PAGE) {
            chunks->class_[i].empty = STORE_NO_PAGE;
            release_page(space, page);
            return 1;
        }
    }
    return 0;
}

uint32_t store_page_take_free(store_space_t *space)
{
    struct store_chunks *chunks = space->chunks;
    uint32_t page;

    page = chunks->free;
    if (page == STORE_NO_PAGE)
        return page;
    chunks->free = chunks->page[page].next;
    chunks->n_free--;
    return page;
}

static uint32_t page_without_memory(store_space_t *space)
{
    struct store_chunks *chunks = space->chunks;
    uint32_t page = chunks->hole;

    if (page != STORE_NO_PAGE) {
        chunks->hole = chunks->page[page].next;
        return page;
    }
    page = space->entry->pages;
    if (page >= STORE_PAGES_MAX)
        return STORE_NO_PAGE;
    STORE_SET_RELEASE(space->entry->pages, page + 1);
    return page;
}

/* @return 0: the space has all its pages */
static int take_page(store_space_t *space, unsigned class_)
{
    struct store_chunks *chunks = space->chunks;
    store_class_info_t *c = &chunks->class_[class_];
    uint32_t most = STORE_GET(space->pages_max), page;
    store_page_t *header;
    store_page_info_t *p;

    if (chunks->n_classed >= most && !take_empty(space))
        return 0;
    if (chunks->n_classed >= most)
        return 0; /* it has just become smaller */
    page = store_page_take_free(space);
    if (page != STORE_NO_PAGE)
        clear_states(space, page, class_);
    else
        page = page_without_memory(space);
    if (page == STORE_NO_PAGE)
        return 0;
    header = header_of(space, page);
    header->class_ = (uint8_t)class_;
    STORE_SET_RELEASE(header->magic, STORE_PAGE_MAGIC);
    p = &chunks->page[page];
    p->class_ = (uint8_t)class_;
    p->has_class = 1;
    p->used = p->free = 0;
    p->fresh = STORE_PAGE_FIRST;
    chunks->n_classed++;
    c->stat.pages++;
    ring_add(chunks, c, page);
    add_roomy(chunks, page);
    report(space);
    return 1;
}

void store_page_add_hole(store_space_t *space, uint32_t page)
{
    space->chunks->page[page].next = space->chunks->hole;
    space->chunks->hole = page;
    report(space);
}

/* ---- a page that is emptied ---- */

void store_page_close(store_space_t *space, uint32_t page)
{
    store_page_info_t *p = &space->chunks->page[page];
    store_class_info_t *c = &space->chunks->class_[p->class_];

    if (!is_full(p))
        remove_roomy(space->chunks, page);
    if (c->empty == page)
        c->empty = STORE_NO_PAGE;
    p->closed = 1;
}

int store_page_open(store_space_t *space, uint32_t page)
{
    store_page_info_t *p = &space->chunks->page[page];

    p->closed = 0;
    if (!is_full(p))
        add_roomy(space->chunks, page);
    if (p->used > 0)
        return 0;
    release_page(space, page);
    return 1;
}

/* ---- chunks ---- */

store_ref_t store_chunk_take(store_space_t *space, unsigned class_)
{
    struct store_chunks *chunks = space->chunks;
    store_class_info_t *c = &chunks->class_[class_];
    store_item_t *item;
    store_ref_t ref;
    uint32_t page;
    store_page_info_t *p;

    if (c->roomy == STORE_NO_PAGE && !take_page(space, class_))
        return 0;
    page = c->roomy;
    p = &chunks->page[page];
    ref = store_page_ref(page, p->free ? p->free : p->fresh);
    item = store_at(space, ref);
    if (p->free)
        p->free = (uint16_t)item->next;
    else
        p->fresh = (uint16_t)(p->fresh + store_page_step(class_));
    p->used++;
    c->stat.used++;
    if (c->empty == page)
        c->empty = STORE_NO_PAGE;
    if (is_full(p))
        remove_roomy(chunks, page);
    store_state_set(item, STORE_WRITING);
    return ref;
}

void store_chunk_give(store_space_t *space, store_ref_t ref)
{
    struct store_chunks *chunks = space->chunks;
    uint32_t page = store_chunk_page(ref);
    store_page_info_t *p = &chunks->page[page];
    store_class_info_t *c = &chunks->class_[p->class_];
    store_item_t *item = store_at(space, ref);
    int was_full = is_full(p);

    store_state_set(item, STORE_FREE);
    item->next = p->free;
    p->free = (uint16_t)(ref % STORE_PAGE_UNITS);
    c->stat.used--;
    chunks->given++;
    p->used--;
    if (p->closed)
        return;
    if (was_full)
        add_roomy(chunks, page);
    if (p->used > 0)
        return;
    if (c->empty == STORE_NO_PAGE) {
        c->empty = page;
        p->free = 0;
        p->fresh = STORE_PAGE_FIRST;
    }
    else
        release_page(space, page);
}

/* The chunk at the hand, which goes on. */
static store_ref_t step(const store_page_info_t *page, store_class_info_t *c,
                        unsigned class_, uint32_t chunks)
{
    store_ref_t ref = store_page_chunk(c->hand, class_, c->hand_at);
    uint32_t at;

    c->hand = page[c->hand].next;
    at = (c->hand == c->round ? c->round_at : c->hand_at) + (uint32_t)c->stride;
    at = at < chunks ? at : at - chunks;
    c->hand_at = (uint16_t)at;
    if (c->hand == c->round)
        c->round_at = (uint16_t)at;
    return ref;
}

/* Each of them is in memory that is far away, so all are fetched at once. */
void store_chunk_sample(store_space_t *space, unsigned class_,
                        store_sample_t *sample)
{
    store_class_info_t *c = &space->chunks->class_[class_];
    uint32_t chunks = store_class_chunks(class_);
    unsigned i;

    sample->n = c->hand == STORE_NO_PAGE ? 0 : STORE_SAMPLE;
    for (i = 0; i < sample->n; i++) {
        sample->chunk[i] =
            store_at(space, step(space->chunks->page, c, class_, chunks));
        __builtin_prefetch(sample->chunk[i]);
    }
}

int store_chunk_class(const store_space_t *space, uint32_t page)
{
    const store_page_info_t *p = &space->chunks->page[page];

    return page < STORE_PAGES_MAX && p->has_class ? p->class_ : -1;
}

store_class_stat_t *store_chunk_stat(store_space_t *space, unsigned class_)
{
    return &space->chunks->class_[class_].stat;
}

/* ---- values in pieces ---- */

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

void store_piece_replace(const store_space_t *space, store_item_t *head,
                         const store_item_t *piece, const store_item_t *by)
{
    store_ref_t from = store_ref(space, piece), to = store_ref(space, by),
                ref = store_piece_first(head);

    if (ref == from)
        memcpy(store_piece_link(head), &to, sizeof to);
    else {
        while (store_at(space, ref)->next != from)
            ref = store_at(space, ref)->next;
        store_at(space, ref)->next = to;
    }
}

/* ---- large values ---- */

/* Chunks of all pieces. The head is small. */
static uint32_t chunks_of(const store_item_t *head)
{
    return (head->length + STORE_PIECE_BYTES - 1) / STORE_PIECE_BYTES;
}

static store_item_t *links_of(const store_space_t *space, store_ref_t head)
{
    return store_at(space, store_piece_first(store_at(space, head)));
}

/* Before the hand, which comes to it last. */
void store_large_add(store_space_t *space, store_item_t *head)
{
    store_ref_t ref = store_ref(space, head), next, prev;
    store_item_t *own = links_of(space, ref);

    if (space->large_hand == 0) {
        space->large_hand = ref;
        own->exptime = own->used = ref;
    }
    next = space->large_hand;
    prev = links_of(space, next)->exptime;
    own->exptime = prev;
    own->used = next;
    links_of(space, prev)->used = ref;
    links_of(space, next)->exptime = ref;
    space->large_chunks += chunks_of(head);
}

static void leave_ring(store_space_t *space, store_item_t *head)
{
    store_ref_t ref = store_ref(space, head);
    store_item_t *own = links_of(space, ref);
    store_ref_t prev = own->exptime, next = own->used;

    links_of(space, prev)->used = next;
    links_of(space, next)->exptime = prev;
    if (space->large_hand == ref)
        space->large_hand = next == ref ? 0 : next;
    space->large_chunks -= chunks_of(head);
}

store_item_t *store_large_next(store_space_t *space)
{
    store_ref_t ref = space->large_hand;

    if (ref == 0)
        return NULL;
    space->large_hand = links_of(space, ref)->used;
    return store_at(space, ref);
}

int store_large_exceed(const store_space_t *space)
{
    uint32_t in_a_page = store_class_chunks(STORE_CLASSES - 1);

    return space->large_chunks > STORE_GET(space->pages_max) * in_a_page / 2;
}

/* One that is alone has passed the limit of a single value. */
int store_large_comes(store_space_t *space, uint32_t length)
{
    uint64_t half = (uint64_t)STORE_GET(space->pages_max) * (STORE_PAGE / 2);
    uint64_t all =
        __atomic_add_fetch(&space->large_coming, length, __ATOMIC_RELAXED);

    if (all <= half || all == length)
        return 1;
    store_large_has_come(space, length);
    return 0;
}

void store_large_has_come(store_space_t *space, uint32_t length)
{
    STORE_ADD(space->large_coming, -(uint64_t)length);
}

/* ---- the chunks of an item ---- */

/* The head is not LIVE: after a crash in between, the pieces that are left are
 * free, because no head reaches them. */
void store_piece_free(store_space_t *space, store_item_t *item)
{
    store_ref_t ref = 0;

    if (STORE_GET(item->bits) & STORE_CHAINED)
        ref = store_piece_first(item);
    if (ref && store_large_is(item))
        leave_ring(space, item);
    store_chunk_give(space, store_ref(space, item));
    while (ref) {
        store_ref_t next = store_at(space, ref)->next;

        store_chunk_give(space, ref);
        ref = next;
    }
}

/* ---- recovery ---- */

/* With used chunks it is of its class, otherwise it loses its memory. */
static void found_page(store_space_t *space, uint32_t page)
{
    struct store_chunks *chunks = space->chunks;
    store_page_info_t *p = &chunks->page[page];
    store_class_info_t *c = &chunks->class_[p->class_];

    if (p->has_class && p->used > 0) {
        chunks->n_classed++;
        c->stat.pages++;
        ring_add(chunks, c, page);
        if (!is_full(p))
            add_roomy(chunks, page);
        return;
    }
    p->has_class = 0;
    STORE_SET_RELEASE(header_of(space, page)->magic, 0);
    store_region_punch(space->slot, page, 1);
    p->next = chunks->hole;
    chunks->hole = page;
}

void store_chunk_found_page(store_space_t *space, uint32_t page,
                            unsigned class_)
{
    struct store_chunks *chunks = space->chunks;
    store_page_info_t *p = &chunks->page[page];

    p->class_ = (uint8_t)class_;
    p->has_class = 1;
    p->used = p->free = 0;
    p->fresh = STORE_PAGE_FIRST;
}

/* The free chunks behind the last one that is used count as fresh, and are not
 * touched. */
void store_chunk_found(store_space_t *space, store_ref_t ref)
{
    store_page_info_t *p = &space->chunks->page[store_chunk_page(ref)];
    uint16_t units = store_page_step(p->class_),
             place = (uint16_t)(ref % STORE_PAGE_UNITS);

    for (; p->fresh < place; p->fresh = (uint16_t)(p->fresh + units)) {
        store_at(space, store_page_ref(store_chunk_page(ref), p->fresh))->next =
            p->free;
        p->free = p->fresh;
    }
    p->fresh = (uint16_t)(place + units);
    p->used++;
    space->chunks->class_[p->class_].stat.used++;
}

void store_chunk_found_all(store_space_t *space)
{
    uint32_t page = space->entry->pages;

    while (page-- > 0)
        found_page(space, page);
    report(space);
}
