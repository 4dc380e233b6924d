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
#include "store/memory/recover.h"
#include "store/memory/region.h"
#include "store/memory/sweeper.h"
#include "store/memory/table.h"

#define BUCKETS 1024 /* that are emptied at once */

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
