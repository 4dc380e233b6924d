/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/memory/page.h"

#include "store/memory/region.h"

static store_page_t *header_of(const store_space_t *space, uint32_t page)
{
    return (store_page_t *)(uintptr_t)(space->base +
                                       (uint64_t)page * STORE_PAGE);
}

/* ---- the pages of a class ---- */

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

void store_page_add_roomy(struct store_chunks *chunks, uint32_t page)
{
    store_class_info_t *c = &chunks->class_[chunks->page[page].class_];
    store_page_info_t *p = &chunks->page[page];

    p->roomy_prev = STORE_NO_PAGE;
    p->roomy_next = c->roomy;
    if (c->roomy != STORE_NO_PAGE)
        chunks->page[c->roomy].roomy_prev = page;
    c->roomy = page;
}

void store_page_remove_roomy(struct store_chunks *chunks, uint32_t page)
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

void store_page_report(const store_space_t *space)
{
    STORE_SET(space->figures->used,
              (uint64_t)STORE_PAGE *
                  (space->chunks->n_classed + space->chunks->n_free));
}

/* The page has no items: it is free for any class. */
void store_page_release(store_space_t *space, uint32_t page)
{
    struct store_chunks *chunks = space->chunks;
    store_page_info_t *p = &chunks->page[page];
    store_class_info_t *c = &chunks->class_[p->class_];

    store_page_remove_roomy(chunks, page);
    ring_remove(chunks, c, page);
    c->stat.pages--;
    __atomic_store_n(&header_of(space, page)->magic, 0, __ATOMIC_RELEASE);
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
            store_page_release(space, page);
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
    __atomic_store_n(&space->entry->pages, page + 1, __ATOMIC_RELEASE);
    return page;
}

/* @return 0: the space has all its pages */
int store_page_take(store_space_t *space, unsigned class_)
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
    __atomic_store_n(&header->magic, STORE_PAGE_MAGIC, __ATOMIC_RELEASE);
    p = &chunks->page[page];
    p->class_ = (uint8_t)class_;
    p->has_class = 1;
    p->used = p->free = 0;
    p->fresh = STORE_PAGE_FIRST;
    chunks->n_classed++;
    c->stat.pages++;
    ring_add(chunks, c, page);
    store_page_add_roomy(chunks, page);
    store_page_report(space);
    return 1;
}

void store_page_add_hole(store_space_t *space, uint32_t page)
{
    space->chunks->page[page].next = space->chunks->hole;
    space->chunks->hole = page;
    store_page_report(space);
}

/* ---- a page that is emptied ---- */

void store_page_close(store_space_t *space, uint32_t page)
{
    store_page_info_t *p = &space->chunks->page[page];
    store_class_info_t *c = &space->chunks->class_[p->class_];

    if (!store_page_is_full(p))
        store_page_remove_roomy(space->chunks, page);
    if (c->empty == page)
        c->empty = STORE_NO_PAGE;
    p->closed = 1;
}

int store_page_open(store_space_t *space, uint32_t page)
{
    store_page_info_t *p = &space->chunks->page[page];

    p->closed = 0;
    if (!store_page_is_full(p))
        store_page_add_roomy(space->chunks, page);
    if (p->used > 0)
        return 0;
    store_page_release(space, page);
    return 1;
}

/* ---- recovery ---- */

void store_page_found(store_space_t *space, uint32_t page)
{
    struct store_chunks *chunks = space->chunks;
    store_page_info_t *p = &chunks->page[page];
    store_class_info_t *c = &chunks->class_[p->class_];

    if (p->has_class && p->used > 0) {
        chunks->n_classed++;
        c->stat.pages++;
        ring_add(chunks, c, page);
        if (!store_page_is_full(p))
            store_page_add_roomy(chunks, page);
        return;
    }
    p->has_class = 0;
    __atomic_store_n(&header_of(space, page)->magic, 0, __ATOMIC_RELEASE);
    store_region_punch(space->slot, page, 1);
    p->next = chunks->hole;
    chunks->hole = page;
}
