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

/* In a cache line of its own. */
typedef struct {
    pthread_mutex_t mutex;
} __attribute__((aligned(64))) lock_t;

struct store_table {
    store_ref_t *buckets;
    uint64_t mask;
    lock_t *locks;
    uint64_t locks_mask; /* fewer than buckets: a bucket has one lock */
};

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
    for (i = 0; i < n; i++)
        pthread_mutex_init(&table->locks[i].mutex, NULL);
    return 0;
}

store_table_t *store_table_make(uint64_t size)
{
    store_table_t *table = calloc(1, sizeof *table);

    if (!table)
        return NULL;
    pthread_once(&hash_key_once, make_hash_key);
    table->mask = buckets_for(size) - 1;
    table->locks_mask = (size < SMALL ? 64 : 1024) - 1;
    table->buckets = mmap(NULL, (table->mask + 1) * sizeof *table->buckets,
                          PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (table->buckets == MAP_FAILED)
        table->buckets = NULL;
    if (table->buckets && init_locks(table) == 0)
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
    if (table->buckets)
        munmap(table->buckets, (table->mask + 1) * sizeof *table->buckets);
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
    return &table->buckets[hash & table->mask];
}

uint32_t store_table_buckets(const store_table_t *table)
{
    return (uint32_t)(table->mask + 1);
}

void store_table_link(store_space_t *space, uint64_t hash, store_item_t *item)
{
    store_ref_t *bucket = store_table_bucket(space->table, hash);

    item->next = *bucket;
    *bucket = store_ref(space, item);
}

void store_table_unlink(store_space_t *space, uint64_t hash, store_item_t *item)
{
    store_ref_t *at = store_table_bucket(space->table, hash);
    store_ref_t ref = store_ref(space, item);

    while (*at != ref)
        at = &store_at(space, *at)->next;
    *at = item->next;
}
