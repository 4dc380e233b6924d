/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/server/upkeep.h"

#include <string.h>

#include "base/heartbeat.h"
#include "store/clock.h"
#include "store/cluster/role.h"
#include "store/memory/region.h"
#include "store/note.h"
#include "store/server/spaces.h"

#define KEEP_GONE 3600 /* s */
/* ms from one line about the limit of a space to the next. */
#define AGAIN     INT64_C(3600000)

/* ---- spaces that are gone ---- */

/* The memory of a space goes back to the kernel, and its entry is free. */
static void forget(unsigned slot)
{
    store_entry_t *e = &store_region_directory()->entry[slot];

    store_region_punch(slot, 0, e->pages);
    store_note(STORE_NOTICE,
               "space %.*s was gone for an hour: its items are removed",
               STORE_NAME - 1, e->name);
    memset(e, 0, sizeof *e);
}

static int is_due(const store_entry_t *e, uint32_t now)
{
    return e->gone_at != 0 && now >= e->gone_at && now - e->gone_at > KEEP_GONE;
}

static int is_open(unsigned slot)
{
    const store_served_t *s;

    for (s = store_spaces_list(); s; s = s->next)
        if (s->space->slot == slot)
            return 1;
    return 0;
}

/* Spaces that the configuration has lost while this store ran. Threads of a
 * cluster may use a space at any time, so it only loses its items then. */
static void empty_gone(uint32_t now)
{
    const store_served_t *s;

    for (s = store_spaces_list(); s; s = s->next)
        if (s->gone && is_due(s->space->entry, now) &&
            STORE_GET(s->space->figures->items) > 0)
            store_space_empty(s->space, heartbeat);
}

static int is_used(const store_served_t *s)
{
    return __atomic_load_n(&s->connections, __ATOMIC_ACQUIRE) != 0 ||
           __atomic_load_n(&s->locked, __ATOMIC_ACQUIRE) != 0;
}

static void close_gone(uint32_t now)
{
    store_served_t *s, *next;

    for (s = store_spaces_list(); s; s = next) {
        unsigned slot = s->space->slot;

        next = s->next;
        if (!s->gone || !is_due(s->space->entry, now) || is_used(s))
            continue;
        store_spaces_forget(s);
        forget(slot);
    }
}

/* Spaces that the configuration has lost before, or while no store ran. */
static void forget_gone(uint32_t now)
{
    store_directory_t *d = store_region_directory();
    unsigned slot;

    if (store_role() == STORE_ALONE)
        close_gone(now);
    else
        empty_gone(now);
    for (slot = 0; slot < STORE_SPACES; slot++) {
        store_entry_t *e = &d->entry[slot];

        if (!e->name[0] || is_open(slot))
            continue;
        if (e->gone_at == 0)
            e->gone_at = now;
        else if (is_due(e, now))
            forget(slot);
    }
}

/* ---- the limit ---- */

/* Of all workers, since the store began. */
static uint64_t count_of(unsigned slot, unsigned what)
{
    const store_figures_t *f = store_region_figures();
    uint64_t n = 0;
    unsigned i;

    for (i = 0; i < STORE_THREADS; i++)
        n += STORE_GET(f->worker[i][slot].n[what]);
    return n;
}

/* Something has happened. @return 1: it is the first time in an hour */
static int is_first(int64_t *at, int64_t now)
{
    if (*at != 0 && now - *at < AGAIN)
        return 0;
    *at = now;
    return 1;
}

static void log_full(const store_served_t *s, int refused)
{
    store_note(refused ? STORE_WARN : STORE_NOTICE,
               "space %s is full (AppStore): %s", s->options.name,
               refused ? "items are refused"
                       : "the items that were unused longest are evicted");
}

static void log_limit(store_served_t *s, int64_t now)
{
    uint64_t evictions = STORE_GET(s->space->figures->evictions),
             refused = count_of(s->space->slot, STORE_NO_MEMORY_COUNT);
    int refuses = refused != s->refused;

    if ((refuses || evictions != s->evictions) && is_first(&s->limit_at, now))
        log_full(s, refuses);
    s->evictions = evictions;
    s->refused = refused;
}

/* ---- AppStoreConfirm ---- */

/* One line a minute, with the number since the last one, and one at the end. */
static void log_confirm(store_served_t *s, int64_t now, int is_end)
{
    unsigned slot = s->space->slot;
    uint64_t unconfirmed = count_of(slot, STORE_UNCONFIRMED),
             not_confirmed = count_of(slot, STORE_NOT_CONFIRMED);

    if ((unconfirmed == s->unconfirmed && not_confirmed == s->not_confirmed) ||
        (!store_note_is_due(&s->confirm_at, now) && !is_end))
        return;
    store_note(
        STORE_WARN,
        "space %s: no slave was there to confirm (AppStoreConfirm): %llu "
        "writes were acknowledged without, %llu were refused",
        s->options.name, (unsigned long long)(unconfirmed - s->unconfirmed),
        (unsigned long long)(not_confirmed - s->not_confirmed));
    s->unconfirmed = unconfirmed;
    s->not_confirmed = not_confirmed;
}

void store_upkeep_tick(int64_t now)
{
    store_served_t *s;

    for (s = store_spaces_list(); s; s = s->next) {
        if (store_role() != STORE_SLAVE)
            store_space_tick(s->space);
        log_limit(s, now);
        log_confirm(s, now, 0);
    }
    forget_gone(store_clock());
}

int store_upkeep_grow(void)
{
    const store_served_t *s = store_spaces_list();

    while (s && !store_space_grow(s->space))
        s = s->next;
    return s != NULL;
}

void store_upkeep_end(void)
{
    store_served_t *s;

    for (s = store_spaces_list(); s; s = s->next)
        log_confirm(s, 0, 1);
}
