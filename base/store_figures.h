/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store_figures.h
 * @brief The counters of the store, in a small memfd that httpd's children map
 *        read-only for the status page.
 *
 * A counter of a worker is written by that worker alone, so it needs no atomic
 * addition. The reader adds the counters of all workers.
 *
 * Crash: the counters stay. A store that starts zeroes them (`began` changes).
 * Trust: the store may write any value. The reader believes no length and no
 *        index, and prints names only after it has checked them.
 */
#ifndef APPPOOL_BASE_STORE_FIGURES_H
#define APPPOOL_BASE_STORE_FIGURES_H

#include <stdint.h>

#include "base/store_format.h"

#define STORE_FIGURES_MAGIC   UINT64_C(0x31676966726f7453)
#define STORE_FIGURES_VERSION 2
#define STORE_THREADS         16 /* workers at most */

/** What is counted, for each worker and space. The order is the format. */
enum {
    STORE_GETS,
    STORE_HITS,
    STORE_GETS_EXPIRED,
    STORE_GETS_FLUSHED,
    STORE_SETS,
    STORE_DELETE_HITS,
    STORE_DELETE_MISSES,
    STORE_INCR_HITS,
    STORE_INCR_MISSES,
    STORE_DECR_HITS,
    STORE_DECR_MISSES,
    STORE_CAS_HITS,
    STORE_CAS_MISSES,
    STORE_CAS_BADVAL,
    STORE_TOUCH_HITS,
    STORE_TOUCH_MISSES,
    STORE_FLUSHES,
    STORE_META_COMMANDS,
    STORE_BYTES_READ,
    STORE_BYTES_WRITTEN,
    STORE_CONNECTIONS_TOTAL,
    STORE_CONNECTIONS_REFUSED,
    STORE_TOO_LARGE_COUNT,
    STORE_NO_MEMORY_COUNT,
    STORE_UNCONFIRMED,   /**< writes that were acknowledged while no slave was
                            there to confirm them (AppStoreConfirm On) */
    STORE_NOT_CONFIRMED, /**< writes that were answered with an error for that
                            (AppStoreConfirm On Refuse) */
    STORE_COUNTERS = 40
};

typedef struct {
    uint64_t n[STORE_COUNTERS];
} store_counters_t;

/** Of one space, beside the counters. Each field is atomic. */
typedef struct {
    char name[STORE_NAME]; /**< "": no such space */
    uint64_t size;         /**< bytes that it may have */
    uint64_t used;         /**< bytes of its pages */
    uint64_t items;
    uint64_t items_total;
    uint64_t item_bytes; /**< keys, values and headers of LIVE items */
    uint64_t evictions;
    uint64_t evicted_age; /**< s since the last access of the item that was
                              evicted last */
    uint64_t reclaimed;   /**< memory taken from expired items */
    uint64_t expired;     /**< removed by the sweeper */
    uint64_t page_moves;
    uint64_t connections;
    uint64_t max_connections;
    uint64_t locks;
    uint64_t spare[2];  /**< an older build has written here */
    uint64_t recovered; /**< items that this store found at its start */
    uint64_t dropped;   /**< items that it found and could not prove */
    uint64_t reserved[8];
} store_space_figures_t;

/** What a store is for the other hosts (store/cluster/role.h). */
typedef enum { STORE_ALONE, STORE_MASTER, STORE_SLAVE } store_role_t;

/** May this host become the master, or stay it? */
typedef enum {
    STORE_READY_NOT, /**< no, for another reason */
    STORE_READY_YES,
    STORE_READY_OLD,   /**< no: its copy is whole, but old */
    STORE_READY_PART,  /**< no: its copy is not complete */
    STORE_READY_BETTER /**< no: another host has better data */
} store_ready_t;

/** One slave of this master. Each field is atomic; `address` is written before
 * `joined`. */
typedef struct {
    char address[48];  /**< as text */
    uint64_t joined;   /**< s since 1970; 0: this entry is free */
    uint64_t yrmcds;   /**< 1: it speaks the dialect of yrmcds */
    uint64_t complete; /**< 1: it has the whole copy */
    uint64_t lag;      /**< changes that it was not sent */
    uint64_t lag_ms;   /**< age of the first of them */
    uint64_t sent;     /**< bytes */
    uint64_t reserved[4];
} store_slave_figures_t;

#define STORE_FIGURES_SLAVES 5

/** The cluster. Each field is atomic. */
typedef struct {
    uint64_t role;  /**< store_role_t */
    uint64_t since; /**< s since 1970: of the role */
    char vip[48];   /**< as text; "": there is none */
    /** @name of a slave */
    uint64_t connected; /**< 1: to a master */
    uint64_t complete;  /**< 1: its copy is complete. It stays when this host
                           becomes the master */
    uint64_t yrmcds;    /**< 1: the master is a yrmcds */
    uint64_t received;  /**< changes, since the copy was complete */
    uint64_t relayed;   /**< connections of clients that are relayed or wait */
    /** @name of a master */
    uint64_t unsent;  /**< changes since the last slave has left */
    uint64_t dropped; /**< slaves that were dropped */
    uint64_t pausing; /**< 1: it serves nothing, because of a handover */
    /** @name of both */
    uint64_t ready; /**< it is the master, or may become the master: s of
                         CLOCK_MONOTONIC when that was last seen; 0: no */
    uint64_t missing_listeners; /**< for slaves, and for hosts that ask what it
                                     has, where it cannot listen */
    uint64_t lag_ms; /**< of a slave: how long the last mark was on its way */
    uint64_t age_ms; /**< of a slave: of its copy, and 1 ms more; 0: not known
                      */
    uint64_t why;    /**< store_ready_t: is it ready, and why not? */
    uint64_t epoch;  /**< id of the last promotion that made its data;
                                   0: it has no copy */
    uint64_t epoch_number; /**< promotions up to it */
    uint64_t position;     /**< changes since it */
    store_slave_figures_t slave[STORE_FIGURES_SLAVES];
} store_cluster_figures_t;

typedef struct {
    uint64_t magic;
    uint32_t version;
    uint32_t threads;
    uint64_t pid;
    uint64_t began;             /**< s since 1970 */
    uint64_t recovery_us;       /**< from the start to the first accept */
    uint64_t missing_listeners; /**< addresses where it cannot listen for
                                    clients; atomic */
    uint64_t reserved[26];
    store_cluster_figures_t cluster;
    store_space_figures_t space[STORE_SPACES];
    store_counters_t worker[STORE_THREADS][STORE_SPACES];
} store_figures_t;

/** Bytes of the memfd. */
#define STORE_FIGURES_SIZE (UINT64_C(2) << 20)
_Static_assert(sizeof(store_figures_t) <= STORE_FIGURES_SIZE, "fits");

/** Count, in the block of the calling worker. */
static inline void store_count(store_counters_t *c, unsigned what, uint64_t n)
{
    __atomic_store_n(&c->n[what], c->n[what] + n, __ATOMIC_RELAXED);
}

#endif
