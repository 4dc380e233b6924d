/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/memory/table.h"

#include <apr_siphash.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#define PER_BUCKET    256 /* bytes of the space */
#define BUCKETS_LEAST 1024
#define SMALL         (UINT64_C(16) << 20)

typedef struct {
    store_ref_t *bucket;
    uint64_t mask;
} buckets_t;

/* In a cache line of its own. The lowest bits of a hash choose the lock, so a
 * bucket has one lock, and the buckets that it is split into have the same
 * one. */
typedef struct {
    pthread_mutex_t mutex;
    buckets_t in; /* where its items are; the mutex */
} __attribute__((aligned(64))) lock_t;

struct store_table {
    buckets_t all;    /* those of all locks, but the first `moved` ones */
    buckets_t larger; /* those of these; NULL: the table does not grow */
    uint64_t moved;
    lock_t *locks;
    uint64_t locks_mask; /* fewer than buckets */
};

_Static_assert(sizeof(lock_t) == 64, "one cache line");

static unsigned char hash_key[APR_SIPHASH_KSIZE];
static pthread_once_t hash_key_once = PTHREAD_ONCE_INIT;

static void make_hash_key(void)
{
    if (getrandom(hash_key, sizeof hash_key, 0) != sizeof hash_key)
        abort(); /* the kernel gives up to 256 bytes always */
}

static uint64_t buckets_for(uint64_t size)
{
    uint64_t n = BUCKETS_LEAST;

    while (2 * n * PER_BUCKET <= size)
        n *= 2;
    return n;
}

static int init_locks(store_table_t *table)
{
    uint64_t i, n = table->locks_mask + 1;

    table->locks =
        aligned_alloc(sizeof *table->locks, n * sizeof *table->locks);
    if (!table->locks)
        return -1;
    for (i = 0; i < n; i++) {
        pthread_mutex_init(&table->locks[i].mutex, NULL);
        table->locks[i].in = table->all;
    }
    return 0;
}

static int make_buckets(buckets_t *b, uint64_t size)
{
    b->mask = buckets_for(size) - 1;
    b->bucket =
        mmap(NULL, (b->mask + 1) * sizeof *b->bucket, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (b->bucket != MAP_FAILED)
        return 0;
    b->bucket = NULL;
    return -1;
}

static void free_buckets(buckets_t *b)
{
    if (b->bucket)
        munmap(b->bucket, (b->mask + 1) * sizeof *b->bucket);
    b->bucket = NULL;
}

store_table_t *store_table_make(uint64_t size)
{
    store_table_t *table = calloc(1, sizeof *table);

    if (!table)
        return NULL;
    pthread_once(&hash_key_once, make_hash_key);
    table->locks_mask = (size < SMALL ? 64 : 1024) - 1;
    if (make_buckets(&table->all, size) == 0 && init_locks(table) == 0)
        return table;
    store_table_free(table);
    return NULL;
}

void store_table_free(store_table_t *table)
{
    uint64_t i;

    if (!table)
        return;
    for (i = 0; table->locks && i <= table->locks_mask; i++)
        pthread_mutex_destroy(&table->locks[i].mutex);
    free(table->locks);
    free_buckets(&table->all);
    free_buckets(&table->larger);
    free(table);
}

uint64_t store_table_hash(const void *key, size_t n)
{
    return apr_siphash24(key, n, hash_key);
}

void store_table_lock(store_table_t *table, uint64_t hash)
{
    pthread_mutex_lock(&table->locks[hash & table->locks_mask].mutex);
}

int store_table_try(store_table_t *table, uint64_t hash)
{
    return pthread_mutex_trylock(
               &table->locks[hash & table->locks_mask].mutex) == 0;
}

void store_table_unlock(store_table_t *table, uint64_t hash)
{
    pthread_mutex_unlock(&table->locks[hash & table->locks_mask].mutex);
}

store_ref_t *store_table_bucket(store_table_t *table, uint64_t hash)
{
    const buckets_t *in = &table->locks[hash & table->locks_mask].in;

    return &in->bucket[hash & in->mask];
}

uint32_t store_table_buckets(const store_table_t *table)
{
    return (uint32_t)(table->all.mask + 1);
}

/* ---- from one bucket to the next ---- */

/* A cursor is a bucket of the table as it was at the beginning, and above it
 * the number of its bits then. Such a bucket has become several ones if the
 * table has grown since. All of them have one lock. */
#define PLACE_BITS 27
#define PLACE      ((UINT32_C(1) << PLACE_BITS) - 1)

_Static_assert(STORE_EXTENT / PER_BUCKET <= PLACE + UINT64_C(1),
               "each bucket has a place");

/* Growth begins with the first lock, so no bucket has fewer parts than those of
 * the last one. */
void store_table_begin(store_table_t *table, uint32_t *cursor)
{
    lock_t *last = &table->locks[table->locks_mask];

    if (*cursor != 0)
        return;
    pthread_mutex_lock(&last->mutex);
    *cursor = (uint32_t)__builtin_popcountll(last->in.mask) << PLACE_BITS;
    pthread_mutex_unlock(&last->mutex);
}

uint64_t store_table_part(const store_table_t *table, uint32_t cursor,
                          uint64_t n)
{
    uint64_t place = cursor & PLACE,
             hash = place + (n << (cursor >> PLACE_BITS));

    return hash <= table->locks[place & table->locks_mask].in.mask
               ? hash
               : STORE_TABLE_NO_PART;
}

int store_table_next(uint32_t *cursor)
{
    if (((*cursor & PLACE) + 1) >> (*cursor >> PLACE_BITS) == 0) {
        ++*cursor;
        return 1;
    }
    *cursor = 0;
    return 0;
}

/* ---- growth ---- */

/* The lock of the buckets is held. */
static void move(store_space_t *space, const buckets_t *from, uint64_t bucket,
                 const buckets_t *to)
{
    store_ref_t ref = from->bucket[bucket];

    while (ref) {
        store_item_t *item = store_at(space, ref);
        store_ref_t *head =
            &to->bucket[store_table_hash(store_item_key(item), item->klen) &
                        to->mask];
        store_ref_t next = item->next;

        item->next = *head;
        *head = ref;
        ref = next;
    }
}

static void move_lock(store_space_t *space, uint64_t n)
{
    struct store_table *table = space->table;
    lock_t *lock = &table->locks[n];
    uint64_t bucket;

    pthread_mutex_lock(&lock->mutex);
    for (bucket = n; bucket <= lock->in.mask; bucket += table->locks_mask + 1)
        move(space, &lock->in, bucket, &table->larger);
    lock->in = table->larger;
    pthread_mutex_unlock(&lock->mutex);
}

int store_table_grow(store_space_t *space, uint64_t size)
{
    struct store_table *table = space->table;

    if (!table->larger.bucket) {
        if (buckets_for(size) <= table->all.mask + 1 ||
            make_buckets(&table->larger, size) != 0)
            return 0;
        table->moved = 0;
    }
    move_lock(space, table->moved);
    if (table->moved++ < table->locks_mask)
        return 1;
    free_buckets(&table->all);
    table->all = table->larger;
    table->larger.bucket = NULL;
    return 0;
}

void store_table_link(store_space_t *space, uint64_t hash, store_item_t *item)
{
    store_ref_t *bucket = store_table_bucket(space->table, hash);

    item->next = *bucket;
    *bucket = store_ref(space, item);
}

static store_ref_t *place_of(store_space_t *space, uint64_t hash,
                             const store_item_t *item)
{
    store_ref_t *at = store_table_bucket(space->table, hash);
    store_ref_t ref = store_ref(space, item);

    while (*at != ref)
        at = &store_at(space, *at)->next;
    return at;
}

void store_table_unlink(store_space_t *space, uint64_t hash, store_item_t *item)
{
    *place_of(space, hash, item) = item->next;
}

void store_table_replace(store_space_t *space, uint64_t hash,
                         store_item_t *item, store_item_t *by)
{
    by->next = item->next;
    *place_of(space, hash, item) = store_ref(space, by);
}
