/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file pool.h
 * @brief A process's handle of the pool, and how to find a record of the
 *        segment by its index or by the offset of one of its links.
 *
 * The handle carries its own copy of the segment's sizes. So each bound is
 * checked against the size that the creator of the segment gave, and not
 * against a size that another process may have written there since.
 *
 * Lock:  these functions need no lock. The lock guards what they return.
 * Crash: nothing is written.
 * Trust: an index out of bounds gives NULL. An offset out of bounds leads to
 *        a link in private memory (`trash`), and `damaged` remembers it.
 */
#ifndef APPPOOL_SHM_FORMAT_POOL_H
#define APPPOOL_SHM_FORMAT_POOL_H

#include <apr.h>
#include <string.h>

#include "shm/format/error.h"
#include "shm/format/format.h"

/** Sizes of a segment: usable slots of each slot array. */
typedef struct {
    uint32_t groups, processes, sessions, children;
} apl_capacity_t;

#define APL_PROCESSES_MAX 65000 /* a process id ends in 16 bits of index */
#define APL_SESSIONS_MAX  1000000

/** A process's handle of the pool. Threads of a process share it. */
typedef struct {
    char *base; /**< the header; 64-byte aligned */
    apl_header_t *header;
    apl_group_t *groups;
    apl_process_t *processes;
    apl_session_t *sessions;
    apl_child_t *children;
    apl_stderr_t *lines;
    apl_numbers_t *numbers;  /**< by index of group; of a snapshot: those of the
                                  segment itself */
    uint64_t *scratch;       /**< twice n_scratch words, for apl_list_sort() */
    uint32_t n_scratch;      /**< slots of the largest slot array */
    uint32_t size;           /**< bytes from base */
    apl_capacity_t n;        /**< slots of each array, with the unused 0 */
    int file;                /**< memfd, or -1: in plain memory */
    uint32_t self;           /**< index of this child; 0: no child of httpd */
    uint32_t generation;     /**< of its slot */
    uint32_t config;         /**< of its configuration */
    apl_identity_t identity; /**< itself */
    int doorbell;            /**< eventfd that wakes the spawner, or -1 */
    volatile int stopping;   /**< waits are to end: apl_checkout_stop() */
    int damaged;             /**< a reference led nowhere; repair is due */
    int64_t patience;        /**< us: see apl_enter_patiently() */
    apl_link_t trash;        /**< where damaged links lead to */
} apl_pool_t;

#define APL_PATIENCE 1000000 /* us */

/**
 * Marks a crash point: the moment after a store that other processes can see.
 *
 *     p->state = APL_PROCESS_LIVE;
 *     APL_CRASH_POINT("ready_live"); // seen: it is live; no list knows it yet
 *
 * A process that is killed leaves a prefix of its instruction stream behind.
 * So the order of the stores in the binary has to be right. The macro is a
 * compiler barrier, which keeps that order, and a local symbol
 * `apl_crash_point_<label>`, at which a debugger can stop the process and kill
 * it.
 *
 * `%=` numbers the copies that inlining makes.
 */
#define APL_CRASH_POINT(label)                                                 \
    __asm__ volatile("apl_crash_point_" label ".%=:" ::: "memory")

/* ---- records by index: NULL if there is no such record ---- */

/** A number from the segment, read once. Otherwise the compiler may read it
 * again after the check, and another process may write it in between. */
static inline uint32_t apl_once(uint32_t i)
{
    __asm__("" : "+r"(i));
    return i;
}

/**
 * Marks a function that reads, on purpose and without the lock, what others
 * write with the lock. What it reads is a hint, or is compared afterwards with
 * a sequence number, a state or a generation. A field is one aligned store and
 * one load, so it is never half old and half new. ThreadSanitizer
 * (tests/unit/run) knows locks and atomic operations and would report each of
 * these reads as a race. A function without this mark has no such read.
 */
#ifdef __SANITIZE_THREAD__
#define APL_UNLOCKED __attribute__((no_sanitize("thread")))
#else
#define APL_UNLOCKED
#endif

/**
 * memcpy() of memory that others may write meanwhile. The copy counts only
 * when a sequence number or a generation says so afterwards. ThreadSanitizer
 * checks memcpy() in any function, so under it words are copied, which takes
 * three times as long. `from` and the size are multiples of 8.
 */
APL_UNLOCKED static inline void apl_copy(void *to, const void *from,
                                         size_t size)
{
#ifdef __SANITIZE_THREAD__
    uint64_t word;
    size_t i;

    for (i = 0; i < size; i += sizeof word) {
        word = __atomic_load_n((const uint64_t *)from + i / sizeof word,
                               __ATOMIC_RELAXED);
        memcpy((char *)to + i, &word, sizeof word);
    }
#else
    memcpy(to, from, size);
#endif
}

/** A mark of use (header.top_*), but within its slot array of n slots. */
APL_UNLOCKED static inline uint32_t apl_top(const uint32_t *mark, uint32_t n)
{
    uint32_t top = __atomic_load_n(mark, __ATOMIC_RELAXED);

    return top < n ? top : n - 1;
}

static inline apl_group_t *apl_group_at(const apl_pool_t *pool, uint32_t i)
{
    i = apl_once(i);
    return i - 1 < pool->n.groups - 1 ? &pool->groups[i] : NULL;
}

static inline apl_process_t *apl_process_at(const apl_pool_t *pool, uint32_t i)
{
    i = apl_once(i);
    return i - 1 < pool->n.processes - 1 ? &pool->processes[i] : NULL;
}

static inline apl_session_t *apl_session_at(const apl_pool_t *pool, uint32_t i)
{
    i = apl_once(i);
    return i - 1 < pool->n.sessions - 1 ? &pool->sessions[i] : NULL;
}

static inline apl_child_t *apl_child_at(const apl_pool_t *pool, uint32_t i)
{
    i = apl_once(i);
    return i - 1 < pool->n.children - 1 ? &pool->children[i] : NULL;
}

/** In a pass over all sessions, which are in no cache: fetch the cache line of
 * a session that comes soon. The session does not have to exist. */
static inline void apl_session_ahead(const apl_session_t *session)
{
    __builtin_prefetch((const char *)session + 24 * sizeof *session);
}

#define APL_GROUP_INDEX(pool, g)   ((uint32_t)((g) - (pool)->groups))
#define APL_PROCESS_INDEX(pool, p) ((uint32_t)((p) - (pool)->processes))
#define APL_SESSION_INDEX(pool, s) ((uint32_t)((s) - (pool)->sessions))
#define APL_CHILD_INDEX(pool, c)   ((uint32_t)((c) - (pool)->children))

/**
 * The record whose link stands at `offset`, or NULL when no record of that
 * slot array has a link there. Use the macros.
 */
static inline void *apl_record_of(const apl_pool_t *pool, uint32_t offset,
                                  const void *array, uint32_t n,
                                  uint32_t record, uint32_t field)
{
    uint32_t start = (uint32_t)((const char *)array - pool->base);
    uint32_t at = apl_once(offset) - start - field;

    if (at % record != 0 || at / record - 1 >= n - 1)
        return NULL;
    return pool->base + start + at;
}

#define APL_GROUP_OF(pool, offset, field)                                      \
    ((apl_group_t *)apl_record_of(pool, offset, (pool)->groups,                \
                                  (pool)->n.groups, sizeof(apl_group_t),       \
                                  (uint32_t)offsetof(apl_group_t, field)))
#define APL_PROCESS_OF(pool, offset, field)                                    \
    ((apl_process_t *)apl_record_of(                                           \
        pool, offset, (pool)->processes, (pool)->n.processes,                  \
        sizeof(apl_process_t), (uint32_t)offsetof(apl_process_t, field)))
#define APL_SESSION_OF(pool, offset, field)                                    \
    ((apl_session_t *)apl_record_of(pool, offset, (pool)->sessions,            \
                                    (pool)->n.sessions, sizeof(apl_session_t), \
                                    (uint32_t)offsetof(apl_session_t, field)))
#define APL_CHILD_OF(pool, offset, field)                                      \
    ((apl_child_t *)apl_record_of(pool, offset, (pool)->children,              \
                                  (pool)->n.children, sizeof(apl_child_t),     \
                                  (uint32_t)offsetof(apl_child_t, field)))

#endif
