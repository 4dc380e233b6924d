/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file list.h
 * @brief Circular, doubly linked lists of offsets. The links are fields of the
 *        records.
 *
 *     apl_list_append(pool, &group->processes, &process->member);
 *     it = apl_list_walk(pool, &group->processes, pool->n.processes);
 *     while ((at = apl_list_next(pool, &it)) != 0)
 *         process = APL_PROCESS_OF(pool, at, member);
 *
 * A head is a link. Its next and prev are the ends of the list, or the head
 * itself. A link in no list is {0, 0}. All but the sort are O(1).
 *
 * Lock:  needed by all.
 * Crash: lists are derived; repair.c rebuilds a broken one.
 * Trust: a link that leads out of the segment leads to pool->trash, and a walk
 *        that is longer than the slot array ends. Both set pool->damaged.
 */
#ifndef APPPOOL_SHM_FORMAT_LIST_H
#define APPPOOL_SHM_FORMAT_LIST_H

#include "shm/format/pool.h"

#define APL_OFFSET(pool, link) ((uint32_t)((char *)(link) - (pool)->base))

/** The link at an offset; never NULL. */
static inline apl_link_t *apl_link_at(apl_pool_t *pool, uint32_t offset)
{
    offset = apl_once(offset);
    if (__builtin_expect(offset < APL_CACHE_LINE || offset % 4 != 0 ||
                             offset > pool->size - sizeof(apl_link_t),
                         0)) {
        pool->damaged = 1;
        return &pool->trash;
    }
    return (apl_link_t *)(void *)(pool->base + offset);
}

/** Make `head` the head of an empty list. */
static inline void apl_list_init(apl_pool_t *pool, apl_link_t *head)
{
    head->next = head->prev = APL_OFFSET(pool, head);
}

static inline int apl_list_linked(const apl_link_t *link)
{
    return link->next != 0;
}

/** Offset of the first link, or 0 when the list is empty. */
static inline uint32_t apl_list_first(apl_pool_t *pool, const apl_link_t *head)
{
    return head->next == APL_OFFSET(pool, head) ? 0 : head->next;
}

/** Is the list empty? For callers without the lock: it may have changed
 * already. */
APL_UNLOCKED static inline int apl_list_seems_empty(const apl_pool_t *pool,
                                                    const apl_link_t *head)
{
    return head->next == APL_OFFSET(pool, head);
}

/** Offset of the last link, or 0 when the list is empty. */
static inline uint32_t apl_list_last(apl_pool_t *pool, const apl_link_t *head)
{
    return head->prev == APL_OFFSET(pool, head) ? 0 : head->prev;
}

static inline void apl_list_insert(apl_pool_t *pool, uint32_t prev,
                                   uint32_t next, apl_link_t *link)
{
    uint32_t at = APL_OFFSET(pool, link);

    link->prev = prev;
    link->next = next;
    apl_link_at(pool, prev)->next = at;
    apl_link_at(pool, next)->prev = at;
}

static inline void apl_list_append(apl_pool_t *pool, apl_link_t *head,
                                   apl_link_t *link)
{
    apl_list_insert(pool, head->prev, APL_OFFSET(pool, head), link);
}

static inline void apl_list_prepend(apl_pool_t *pool, apl_link_t *head,
                                    apl_link_t *link)
{
    apl_list_insert(pool, APL_OFFSET(pool, head), head->next, link);
}

/** Take a link out of its list. Does nothing if it is in no list. */
static inline void apl_list_remove(apl_pool_t *pool, apl_link_t *link)
{
    if (!apl_list_linked(link))
        return;
    apl_link_at(pool, link->prev)->next = link->next;
    apl_link_at(pool, link->next)->prev = link->prev;
    link->next = link->prev = 0;
}

/** A walk. The link at which it stands may be removed meanwhile. */
typedef struct {
    uint32_t next, end, left;
} apl_walk_t;

static inline apl_walk_t apl_list_walk(apl_pool_t *pool, const apl_link_t *head,
                                       uint32_t bound)
{
    apl_walk_t it = {head->next, APL_OFFSET(pool, head), bound};

    return it;
}

/** Offset of the next link, or 0 at the end. */
static inline uint32_t apl_list_next(apl_pool_t *pool, apl_walk_t *it)
{
    uint32_t at = it->next;

    if (at == it->end)
        return 0;
    if (it->left-- == 0) {
        pool->damaged = 1;
        return 0;
    }
    it->next = apl_link_at(pool, at)->next;
    return at;
}

/** What a list is sorted by. */
typedef uint64_t apl_list_key_t(const apl_pool_t *pool, uint32_t offset);

/**
 * Sort ascending; equal keys keep their order. A radix sort, in the scratch
 * memory of the segment. O(n), even while another process writes into the
 * links.
 * @param bound the list can have at most this many links. A list that has more
 *        is damaged, and is empty afterwards
 */
void apl_list_sort(apl_pool_t *pool, apl_link_t *head, uint32_t bound,
                   apl_list_key_t *key);

#endif
