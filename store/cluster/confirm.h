/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file confirm.h
 * @brief Which slaves may be promoted, and up to which position they have
 *        confirmed the changes.
 *
 * A slave that has the whole copy joins the set. It confirms a position by its
 * echo of a mark (wire.h). It may be promoted until its lease is over: for 10 s
 * after the last mark (follower_state.h). So each mark that is sent prolongs
 * the lease, and a slave of which nothing is heard gets no mark. It is in the
 * set until its lease is over, also without a connection. Only a slave that
 * says BYE leaves at once.
 *
 * A host that becomes the master knows of no lease. But another host may have
 * one of the last master, or keepalived has not noticed yet that it is not
 * ready. So each peer counts as one that may be promoted until it has joined,
 * or the time of a lease is over: it is unknown. A write of a space that
 * refuses waits for these, too. Others do not wait for them, and their writes
 * are not confirmed.
 *
 * A change that is acknowledged while a slave is not in the set is not
 * confirmed by it. So a slave that joins, or comes back, gets its first mark
 * when it has all changes that were there by then.
 *
 * A worker that holds replies says what it waits for, and looks once more
 * (store_confirm_least()) before it sleeps. The thread that hears a slave
 * stores what it has confirmed, and looks at the workers that wait. So one of
 * them sees the other.
 *
 * Lock:  one of its own, which is taken for some instructions. Any thread, but
 *        a slave's own feeder writes its state, and a worker its own place
 *        among those that wait, which needs no lock.
 */
#ifndef APPPOOL_STORE_CLUSTER_CONFIRM_H
#define APPPOOL_STORE_CLUSTER_CONFIRM_H

#include <stdint.h>

#include "store/cluster/cluster.h"

/** ms from a mark to the end of the lease. The slave looks once a second, and
 * the mark needs time. keepalived needs two more looks. */
#define STORE_CONFIRM_LEASE 14000

/** Nobody has to confirm. */
#define STORE_CONFIRM_NONE  UINT64_MAX

/** What is known of the slave with this place among the figures. */
typedef struct {
    int is_member;     /**< it has the whole copy, and is connected */
    uint64_t position; /**< it has applied all changes up to this one */
    int64_t until;     /**< ms, of clock_ms(): the end of its lease */
} store_confirm_t;

/** This host is the master from now on: no slave has joined. Changes count,
 * also before it can listen for slaves. @param config its peers are unknown;
 * NULL: there are none */
void store_confirm_begin(const store_cluster_t *config);

/** Is there a space whose changes are confirmed? Then each mark asks the slave
 * to echo it at once, and not only within a second: a mark goes out before a
 * worker knows that it has to wait for it. */
void store_confirm_want(int is_wanted);
int store_confirm_is_wanted(void);

/** @name for its feeder
 * @{ */
/** The slave at this address has the copy. */
void store_confirm_joins(unsigned slot, const store_address_t *);

/** May it be told that its copy is whole? It may then be promoted, so it needs
 * all changes that nobody waits for it to confirm.
 * @param position up to which all was sent to it */
int store_confirm_is_whole(unsigned slot, uint64_t position);

/** A mark with this position is to be sent: this prolongs the lease.
 * @return 0: do not send it */
int store_confirm_grants(unsigned slot, uint64_t position, int64_t now);

/** It has echoed the mark of this position. Wakes the workers that wait. */
void store_confirm_heard(unsigned slot, uint64_t position);

/** Its connection has ended. @param in_order 1: it has said BYE before: it is
 * not promoted */
void store_confirm_leaves(unsigned slot, int in_order);
/** @} */

/** Up to which position all have confirmed.
 * STORE_CONFIRM_NONE: there is no slave that has to. */
typedef struct {
    uint64_t known;  /**< those that have joined this master */
    uint64_t strict; /**< these, and those that are unknown */
} store_confirmed_t;

store_confirmed_t store_confirm_least(int64_t now);

/** Is a slave in the set? */
int store_confirm_is_possible(void);

void store_confirm_state(unsigned slot, store_confirm_t *);

/** @name for the workers that hold replies
 * @{ */
/** The worker of this number is woken by this eventfd, which is nonblocking.
 * @param bell -1: it has ended */
void store_confirm_bell(unsigned worker, int bell);

/** It holds replies from this position on; 0: none. */
void store_confirm_wait(unsigned worker, uint64_t position);

/** Does somebody hold a reply? Then changes are sent at once. */
int store_confirm_is_awaited(void);

/** All up to this position is confirmed: wake those that wait for it. Each one
 * is woken once until it says again what it waits for. */
void store_confirm_ring(uint64_t least);
/** @} */

#endif
