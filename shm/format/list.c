/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/format/list.h"

#define INSERTION_MAX  32  /* the most links that are sorted by insertion */
#define DIGITS         256 /* values of a byte of a key, for longer lists */
#define PREFETCH_LINKS 8   /* links */

/* How far ahead to fetch, in bytes. A rebuilt list has the order of the
 * slots. */
#define PREFETCH_BYTES 2048

/* While a list is sorted, the scratch has its links, each with one half of its
 * key. The scratch is in the segment, so other processes may write there. */
#define ENTRY(key, at) ((uint64_t)(key) << 32 | (at))
#define KEY(entry)     ((uint32_t)((entry) >> 32))
#define AT(entry)      ((uint32_t)(entry))

/* What a walk along a list has found. */
typedef struct {
    uint32_t n;
    int whole, sorted;
    uint64_t differ; /* bits in which the keys differ */
} summary_t;

/* Copy the links into the scratch. @param shift 32: with the upper half of
 * their keys; 0: with the lower half */
static summary_t copy_entries(apl_pool_t *pool, const apl_link_t *head,
                              uint32_t bound, apl_list_key_t *key,
                              uint32_t shift)
{
    uint32_t at = head->next, end = APL_OFFSET(pool, head);
    summary_t look = {.sorted = 1};
    uint64_t before = 0;

    for (; at != end && look.n < bound; look.n++) {
        const apl_link_t *link = apl_link_at(pool, at);
        uint32_t next = link->next;
        uint64_t k;

        __builtin_prefetch((const char *)link + PREFETCH_BYTES);
        k = key(pool, at);
        pool->scratch[look.n] = ENTRY((uint32_t)(k >> shift), at);
        look.differ |= look.n > 0 ? k ^ before : 0;
        look.sorted &= k >= before;
        before = k;
        at = next;
    }
    look.whole = at == end;
    return look;
}

static void sort_few(uint64_t *entries, uint32_t n)
{
    uint32_t i, to;

    for (i = 1; i < n; i++) {
        uint64_t e = entries[i];

        for (to = i; to > 0 && KEY(entries[to - 1]) > KEY(e); to--)
            entries[to] = entries[to - 1];
        entries[to] = e;
    }
}

/* Sort by one byte of the keys. */
static void sort_byte(const uint64_t *from, uint64_t *to, uint32_t n,
                      uint32_t shift)
{
    uint32_t place[DIGITS] = {0};
    uint32_t i, sum = 0;

    for (i = 0; i < n; i++)
        place[(KEY(from[i]) >> shift) % DIGITS]++;
    for (i = 0; i < DIGITS; i++) {
        uint32_t count = place[i];

        place[i] = sum;
        sum += count;
    }
    for (i = 0; i < n; i++) {
        uint64_t e = from[i];
        uint32_t at = place[(KEY(e) >> shift) % DIGITS]++;

        if (at < n) /* else another process has changed a key */
            to[at] = e;
    }
}

/* Sort the entries in the scratch. @param differ bits in which the keys differ
 * @return where the sorted entries are */
static const uint64_t *sort_entries(apl_pool_t *pool, uint32_t n,
                                    uint32_t differ)
{
    uint64_t *from = pool->scratch, *to = from + pool->n_scratch;
    uint32_t shift;

    if (n <= INSERTION_MAX) {
        sort_few(from, n);
        return from;
    }
    for (shift = 0; shift < 32; shift += 8)
        if ((differ >> shift) % DIGITS != 0) {
            uint64_t *sorted = to;

            sort_byte(from, sorted, n, shift);
            to = from;
            from = sorted;
        }
    return from;
}

static void relink(apl_pool_t *pool, apl_link_t *head, const uint64_t *entries,
                   uint32_t n)
{
    uint32_t end = APL_OFFSET(pool, head), last = end, i;

    for (i = 0; i < n; i++) {
        uint32_t at = AT(entries[i]);
        apl_link_t *link = apl_link_at(pool, at);

        if (i + PREFETCH_LINKS < n)
            __builtin_prefetch(pool->base + AT(entries[i + PREFETCH_LINKS]), 1);
        link->prev = last;
        link->next = i + 1 < n ? AT(entries[i + 1]) : end;
        last = at;
    }
    head->next = AT(entries[0]);
    head->prev = last;
}

/* Sort by one half of the keys.
 * @return 1: the keys differ in the upper half, too */
static int sort_half(apl_pool_t *pool, apl_link_t *head, uint32_t bound,
                     apl_list_key_t *key, uint32_t shift)
{
    summary_t look = copy_entries(pool, head, bound, key, shift);

    if (!look.whole) {
        pool->damaged = 1;
        apl_list_init(pool, head);
    }
    if (!look.whole || look.sorted)
        return 0;
    relink(pool, head,
           sort_entries(pool, look.n, (uint32_t)(look.differ >> shift)),
           look.n);
    return look.differ >> 32 != 0;
}

void apl_list_sort(apl_pool_t *pool, apl_link_t *head, uint32_t bound,
                   apl_list_key_t *key)
{
    uint32_t most = bound < pool->n_scratch ? bound : pool->n_scratch;

    /* The upper half comes last: links that are equal in it keep the order
     * that the lower half gave them. */
    if (sort_half(pool, head, most, key, 0))
        sort_half(pool, head, most, key, 32);
}
