/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/command/counter.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "store/clock.h"
#include "store/memory/table.h"

#define BUCKETS  16384
#define SHARE    16    /* of the size of the space */
#define DAY      86400 /* s */
/* Counters of an earlier day that one call frees: it must be short. */
#define OUTDATED 16

struct store_counter {
    uint64_t hash;
    store_counter_t *next;          /* of the bucket, or of those to be freed */
    store_counter_t *newer, *older; /* that nobody holds either */
    uint32_t place;                 /* in the table */
    uint32_t consumption;
    uint32_t most;    /* consumption of the day of the last change */
    uint32_t changed; /* s */
    uint16_t n;
    char name[];
};

struct store_counter_table {
    pthread_mutex_t lock;
    const store_space_t *space;
    store_counter_figures_t figures;
    store_counter_t *newest, *oldest; /* of those that nobody holds */
    store_counter_t *dropped;         /* to be freed after the unlock */
    uint32_t n_places, n_vacant;
    store_counter_t *place[STORE_COUNTERS_MAX]; /* NULL: vacant */
    uint32_t vacant[STORE_COUNTERS_MAX];        /* places below n_places */
    store_counter_t *bucket[BUCKETS];
};

static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
static store_counter_table_t *tables[STORE_SPACES];

static store_counter_table_t *present(const store_space_t *space)
{
    return __atomic_load_n(&tables[space->slot], __ATOMIC_ACQUIRE);
}

/* Most of it is never touched, and becomes no memory. */
static store_counter_table_t *make_table(const store_space_t *space)
{
    store_counter_table_t *table = calloc(1, sizeof *table);

    if (table && pthread_mutex_init(&table->lock, NULL) != 0) {
        free(table);
        table = NULL;
    }
    if (table)
        table->space = space;
    return table;
}

store_counter_table_t *store_counter_table(const store_space_t *space)
{
    store_counter_table_t *table = present(space);

    if (table)
        return table;
    pthread_mutex_lock(&making);
    table = present(space);
    if (table == NULL) {
        table = make_table(space);
        __atomic_store_n(&tables[space->slot], table, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&making);
    return table;
}

void store_counter_forget(const store_space_t *space)
{
    store_counter_table_t *table = present(space);

    if (table == NULL)
        return;
    for (uint32_t i = 0; i < table->n_places; i++)
        free(table->place[i]);
    pthread_mutex_destroy(&table->lock);
    free(table);
    __atomic_store_n(&tables[space->slot], NULL, __ATOMIC_RELEASE);
}

/* ---- the table, under its lock ---- */

static uint32_t today(void)
{
    return store_clock() / DAY * DAY;
}

static void add_idle(store_counter_table_t *table, store_counter_t *c)
{
    c->newer = NULL;
    c->older = table->newest;
    if (table->newest)
        table->newest->newer = c;
    else
        table->oldest = c;
    table->newest = c;
}

static void remove_idle(store_counter_table_t *table, store_counter_t *c)
{
    *(c->newer ? &c->newer->older : &table->newest) = c->older;
    *(c->older ? &c->older->newer : &table->oldest) = c->newer;
}

static uint64_t bytes_of(const store_counter_t *c)
{
    return sizeof *c + c->n;
}

static void drop(store_counter_table_t *table, store_counter_t *c)
{
    store_counter_t **at = &table->bucket[c->hash % BUCKETS];

    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    remove_idle(table, c);
    table->place[c->place] = NULL;
    table->vacant[table->n_vacant++] = c->place;
    table->figures.objects--;
    table->figures.bytes -= bytes_of(c);
    c->next = table->dropped;
    table->dropped = c;
}

static void lock(store_counter_table_t *table)
{
    uint32_t day = today();

    pthread_mutex_lock(&table->lock);
    for (int i = 0; i < OUTDATED; i++)
        if (table->oldest && table->oldest->changed < day)
            drop(table, table->oldest);
}

static void unlock(store_counter_table_t *table)
{
    store_counter_t *c = table->dropped;

    table->dropped = NULL;
    pthread_mutex_unlock(&table->lock);
    while (c) {
        store_counter_t *next = c->next;

        free(c);
        c = next;
    }
}

static store_counter_t *find(store_counter_table_t *table,
                             store_counter_name_t name, uint64_t hash)
{
    store_counter_t *c = table->bucket[hash % BUCKETS];

    while (c && (c->hash != hash || c->n != name.n ||
                 memcmp(c->name, name.at, name.n) != 0))
        c = c->next;
    return c;
}

static bool has_room(const store_counter_table_t *table, uint64_t bytes)
{
    uint64_t most =
        (uint64_t)STORE_GET(table->space->pages_max) * STORE_PAGE / SHARE;

    return table->figures.objects < STORE_COUNTERS_MAX &&
           table->figures.bytes + bytes <= most;
}

/* @return false: no room, though only counters that are held are left */
static bool insert(store_counter_table_t *table, store_counter_t *c)
{
    while (!has_room(table, bytes_of(c)) && table->oldest)
        drop(table, table->oldest);
    if (!has_room(table, bytes_of(c)))
        return false;
    c->place = table->n_vacant > 0 ? table->vacant[--table->n_vacant]
                                   : table->n_places++;
    table->place[c->place] = c;
    c->next = table->bucket[c->hash % BUCKETS];
    table->bucket[c->hash % BUCKETS] = c;
    add_idle(table, c);
    table->figures.objects++;
    table->figures.objects_total++;
    table->figures.bytes += bytes_of(c);
    return true;
}

static uint32_t most_of_today(const store_counter_t *c)
{
    return c->changed < today() ? c->consumption : c->most;
}

static void change(store_counter_table_t *table, store_counter_t *c,
                   uint32_t consumption)
{
    uint32_t most = most_of_today(c);

    c->most = consumption > most ? consumption : most;
    c->changed = store_clock();
    if (c->consumption == 0 && consumption > 0)
        remove_idle(table, c);
    if (c->consumption > 0 && consumption == 0)
        add_idle(table, c);
    c->consumption = consumption;
}

/* ---- the verbs ---- */

store_counter_status_t store_counter_get(store_counter_table_t *table,
                                         store_counter_name_t name,
                                         uint32_t *consumption)
{
    uint64_t hash = store_table_hash(name.at, name.n);
    const store_counter_t *c;

    lock(table);
    c = find(table, name, hash);
    if (c)
        *consumption = c->consumption;
    unlock(table);
    return c ? STORE_COUNTER_DONE : STORE_COUNTER_NOT_FOUND;
}

static store_counter_t *make(store_counter_name_t name, uint64_t hash)
{
    store_counter_t *c = calloc(1, sizeof *c + name.n);

    if (c) {
        c->hash = hash;
        c->n = name.n;
        c->changed = store_clock();
        memcpy(c->name, name.at, name.n);
    }
    return c;
}

static store_counter_status_t take(store_counter_table_t *table,
                                   store_holdings_t *holdings,
                                   store_counter_t *c, uint32_t resources,
                                   uint32_t maximum)
{
    if ((uint64_t)c->consumption + resources > maximum)
        return STORE_COUNTER_UNAVAILABLE;
    if (!store_holding_add(holdings, c, resources))
        return holdings->n == STORE_HOLDINGS_MAX ? STORE_COUNTER_TOO_MANY
                                                 : STORE_COUNTER_NO_MEMORY;
    change(table, c, c->consumption + resources);
    return STORE_COUNTER_DONE;
}

store_counter_status_t store_counter_acquire(store_counter_table_t *table,
                                             store_holdings_t *holdings,
                                             store_counter_name_t name,
                                             uint32_t resources,
                                             uint32_t maximum)
{
    uint64_t hash = store_table_hash(name.at, name.n);
    store_counter_status_t rv = STORE_COUNTER_NO_MEMORY;
    store_counter_t *fresh = NULL, *c;

    store_holding_prepare(holdings);
    lock(table);
    c = find(table, name, hash);
    if (c == NULL) { /* memory is taken without the lock */
        unlock(table);
        fresh = make(name, hash);
        lock(table);
        c = find(table, name, hash);
    }
    if (c == NULL && fresh && insert(table, fresh)) {
        c = fresh;
        fresh = NULL;
    }
    if (c)
        rv = take(table, holdings, c, resources, maximum);
    unlock(table);
    free(fresh);
    return rv;
}

store_counter_status_t store_counter_release(store_counter_table_t *table,
                                             store_holdings_t *holdings,
                                             store_counter_name_t name,
                                             uint32_t resources)
{
    uint64_t hash = store_table_hash(name.at, name.n);
    store_counter_status_t rv = STORE_COUNTER_NOT_FOUND;
    store_holding_t *h;
    store_counter_t *c;

    lock(table);
    c = find(table, name, hash);
    h = c ? store_holding_find(holdings, c) : NULL;
    if (h && h->resources >= resources) {
        change(table, c, c->consumption - resources);
        store_holding_reduce(holdings, h, resources);
        rv = STORE_COUNTER_DONE;
    }
    else if (c) {
        rv = STORE_COUNTER_NOT_ACQUIRED;
    }
    unlock(table);
    return rv;
}

void store_counter_release_all(store_counter_table_t *table,
                               store_holdings_t *holdings)
{
    lock(table);
    for (uint32_t i = 0; i < holdings->n; i++) {
        store_counter_t *c = holdings->all[i].counter;

        change(table, c, c->consumption - holdings->all[i].resources);
    }
    unlock(table);
    free(holdings->all);
    *holdings = (store_holdings_t){0};
}

/* ---- what there is ---- */

bool store_counter_walk(store_counter_table_t *table, uint32_t *cursor,
                        unsigned n,
                        bool (*look)(void *ctx, const store_counter_view_t *),
                        void *ctx)
{
    bool more, room = true;

    lock(table);
    for (; n > 0 && room && *cursor < table->n_places; n--) {
        const store_counter_t *c = table->place[*cursor];

        if (c)
            room = look(ctx, &(store_counter_view_t){{c->name, c->n},
                                                     c->consumption,
                                                     most_of_today(c)});
        *cursor += room;
    }
    more = *cursor < table->n_places;
    unlock(table);
    return more;
}

store_counter_figures_t store_counter_figures(const store_space_t *space)
{
    store_counter_table_t *table = present(space);
    store_counter_figures_t figures = {0};

    if (table) {
        lock(table);
        figures = table->figures;
        unlock(table);
    }
    return figures;
}
