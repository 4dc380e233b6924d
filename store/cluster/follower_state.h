/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file follower_state.h
 * @brief What the follower's thread tells the other threads, the figures and
 *        the next process about its copy.
 *
 * Lock:  the follower's thread writes. Any thread reads.
 * Crash: the position of the copy is in the history of the directory. `lacks`
 *        of the directory stays. It is set before the first item is
 *        forgotten, so a part of a copy never counts as complete.
 */
#ifndef APPPOOL_STORE_CLUSTER_FOLLOWER_STATE_H
#define APPPOOL_STORE_CLUSTER_FOLLOWER_STATE_H

#include <stdint.h>

/** What the follower knows of its master. Any thread may read it. */
typedef struct {
    int connected;      /**< bytes have arrived */
    int has_tried;      /**< a connection has ended, or could not be made */
    int was_answered;   /**< a host took the connection of the last attempt. So
                         there is a master, also if it refuses this slave */
    int has_begun;      /**< a copy has begun */
    int complete;       /**< it has the whole copy */
    int is_yrmcds;      /**< only the open space is exchanged */
    int keeps;          /**< the last master that it has met has no better data,
                           so it has kept its own */
    int has_asked;      /**< the peers were asked, since the last master */
    int better;         /**< one of them has better data */
    int64_t refused_at; /**< ms: when a host last took a connection and closed
                           it before a copy had begun: the master does not want
                           this slave. 0: no host has, since the last copy
                           began */
    int64_t
        marked_at; /**< ms: when the last mark of a master of ours came to the
                          complete copy; 0: none has */
    int64_t lag;   /**< ms: how long that mark had been on its way, and how
                          old the changes were that it was before */
    int64_t lag_most; /**< ms: it had been on its way for no longer than that */
    int64_t since; /**< ms, of clock_ms(): when the connection ended; 0: it has
                      not */
} store_follower_state_t;

void store_follower_state(store_follower_state_t *);

/** Has a master refused this slave in the last 10 s? It has dropped the slave,
 * which was too slow: what the slave has is whole, but old. If no master
 * answers any more, another slave gets the address before these 10 s are over.
 * If there is none, an old copy is better than nothing. */
int store_follower_state_is_refused(const store_follower_state_t *);

/** @name How old the copy is
 * A slave that has lost its master, or does not keep up with it, has an old
 * copy. It should not become the master while another one has a newer one. The
 * lease: a master with AppStoreConfirm waits that long for a slave.
 * @{ */
#define STORE_LEASE      10000 /**< ms from a mark to the end of the lease */
/** ms from an echo to the same, if the next mark has come. A mark comes once a
 * second. */
#define STORE_LEASE_MOST 11000
#define STORE_LAG_MOST   2000 /**< ms */
/** @return ms; -1: not known, and not for the copy of a yrmcds */
int64_t store_follower_state_age(const store_follower_state_t *);
/** @return 1: the lease is over, or the lag is too large; 0: not, or it is the
 * copy of a yrmcds */
int store_follower_state_is_stale(const store_follower_state_t *);
/** @} */

/** A mark has come. @param lag ms
 * @param most ms, as of store_mark_most(). -1: it prolongs no lease */
void store_follower_state_mark(uint64_t position, int64_t lag, int64_t most);

/** Is the copy whole, but refused or stale? */
int store_follower_state_is_old(const store_follower_state_t *);

/** Nothing is known. Before the thread begins. */
void store_follower_state_clear(void);

/** An attempt to connect has ended. */
void store_follower_state_tried(void);

/** Has a host taken the connection of the last attempt? */
void store_follower_state_answered(int answered);

/** It has closed the connection, or does not know the secret, and no copy had
 * begun. Not if this end has closed the connection, or it was lost. */
void store_follower_state_refused(void);

/** Only the open space is exchanged. */
void store_follower_state_yrmcds(int is_yrmcds);

/** A copy begins. @param is_kept 0: the store forgets its items now */
void store_follower_state_begins(int is_kept);

/** The copy was whole, and there is more than it has: a space has come. */
void store_follower_state_grows(void);

/** Has the store the whole copy? */
void store_follower_state_complete(int complete);

/** How often what the store has became a part of a copy. Whoever goes over all
 * items sees by it that there were perhaps fewer meanwhile. Any thread. */
unsigned store_follower_state_parts(void);

/** It has not forgotten its items for the master that it has met. */
void store_follower_state_keeps(void);

/** What it has is a part of a copy from now on. The main thread. */
void store_follower_state_forgets(void);

/** The peers were asked. @param is_elsewhere one of them has better data */
void store_follower_state_better(int is_elsewhere);

void store_follower_state_connected(void);

/** The connection has ended. */
void store_follower_state_lost(void);

#endif
