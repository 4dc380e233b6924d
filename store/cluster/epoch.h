/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file epoch.h
 * @brief Which of two copies of the data is the newer one, and which one gives
 *        way.
 *
 * Each promotion begins an epoch. Its id is random, and its position counts the
 * changes since it began. A history (store_history_t) names the epochs of the
 * data, and where each one ended.
 *
 *     host 1 (was the master)   e1: 900
 *     host 2 (is the master)    e2: 40, e1: 880       both parted at e1: 880
 *
 * Two hosts compare the newest epoch that both know: what one of them has
 * beyond the lower of both positions, the other one does not have.
 *
 * Lock:  pure functions. Only one thread writes the history: the follower
 *        of a slave, the main thread of any other host. A word of it may be
 *        read by others at any time.
 * Crash: a kill inside of store_epoch_begin() loses no epoch. The first entry
 *        of an id is right, and a second one counts for nothing. So does an
 *        entry without an id: the new epoch has its id last. After a kill
 *        inside of store_epoch_adopt() there is no history.
 * Trust: the history of another host may be anything that store_wire_history()
 *        lets through.
 */
#ifndef APPPOOL_STORE_CLUSTER_EPOCH_H
#define APPPOOL_STORE_CLUSTER_EPOCH_H

#include "base/store_format.h"

/** How two copies are related. */
typedef struct {
    int is_related;  /**< 0: they have no epoch in common */
    uint64_t mine;   /**< changes that only mine has; all that are known if they
                        are not related */
    uint64_t theirs; /**< changes that only theirs has, or all */
} store_relation_t;

/** May a host with a copy forget it, and take theirs? */
typedef enum {
    STORE_JOIN_NOTHING, /**< yes: it has none */
    STORE_JOIN_NEWER,   /**< yes: theirs has all that mine has, or mine has
                           nothing */
    STORE_JOIN_GIVES,   /**< yes: both went on, and mine gives way */
    STORE_KEEP_MORE,    /**< no: mine has more changes */
    STORE_KEEP_WHOLE,   /**< no: mine is complete, and theirs is not */
    STORE_KEEP_OTHER    /**< no: they have nothing in common */
} store_join_t;

static inline int store_epoch_keeps(store_join_t join)
{
    return join >= STORE_KEEP_MORE;
}

/** Begin an epoch, in the memory that outlives the process. An epoch without a
 * change is replaced, because nobody has data of it; but not the first one.
 * @param id    random, not 0
 * @param flags STORE_HISTORY_..., which are added */
void store_epoch_begin(store_history_t *, uint64_t id, uint32_t flags);

/** Take over what another host has sent. */
void store_epoch_adopt(store_history_t *, const store_history_t *from);

/** There is no data of a cluster. */
void store_epoch_clear(store_history_t *);

/** Has the data all changes up to this position of the epoch? */
int store_epoch_contains(const store_history_t *, uint64_t id,
                         uint64_t position);

/** All changes that the history knows. */
uint64_t store_epoch_changes(const store_history_t *);

store_relation_t store_epoch_compare(const store_history_t *mine,
                                     const store_history_t *theirs);

/** May the copy of `mine` be forgotten for `theirs`? @param relation gets how
 * they are related */
store_join_t store_epoch_join(const store_history_t *mine,
                              const store_history_t *theirs,
                              store_relation_t *relation);

/** Would mine give way to theirs, and theirs not to mine? */
int store_epoch_is_better(const store_history_t *theirs,
                          const store_history_t *mine);

/** What a master makes of the copy of another host. */
typedef enum {
    STORE_CLAIM_NONE,   /**< it joins, or nobody knows which one is better */
    STORE_CLAIM_BETTER, /**< it does not join, as it has more */
    STORE_CLAIM_OLDER /**< it has more, and the master began empty while it had
                           data: the master's history is CONTESTED */
} store_claim_t;

store_claim_t store_epoch_claim(const store_history_t *claimed,
                                const store_history_t *master);

#endif
