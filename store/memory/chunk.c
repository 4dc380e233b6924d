/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/memory/chunk.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "store/memory/page.h"

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

/* ---- chunks ---- */

store_ref_t store_chunk_take(store_space_t *space, unsigned class_)
{
    struct store_chunks *chunks = space->chunks;
    store_class_info_t *c = &chunks->class_[class_];
    store_item_t *item;
    store_ref_t ref;
    uint32_t page;
    store_page_info_t *p;

    if (c->roomy == STORE_NO_PAGE && !store_page_take(space, class_))
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
    if (store_page_is_full(p))
        store_page_remove_roomy(chunks, page);
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
    int was_full = store_page_is_full(p);

    store_state_set(item, STORE_FREE);
    item->next = p->free;
    p->free = (uint16_t)(ref % STORE_PAGE_UNITS);
    c->stat.used--;
    chunks->given++;
    p->used--;
    if (p->closed)
        return;
    if (was_full)
        store_page_add_roomy(chunks, page);
    if (p->used > 0)
        return;
    if (c->empty == STORE_NO_PAGE) {
        c->empty = page;
        p->free = 0;
        p->fresh = STORE_PAGE_FIRST;
    }
    else
        store_page_release(space, page);
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

/* ---- recovery ---- */

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
        store_page_found(space, page);
    store_page_report(space);
}
