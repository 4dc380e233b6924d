/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file ask.h
 * @brief Asks the other hosts of AppStorePeers which data they have, before this
 *        host becomes the first master.
 *
 * Each host answers at its own address (asked.h), also if it is not the master.
 * A host that is in AppStorePlainPeers beside a key is not asked.
 *
 * Lock:  none; one thread. It waits for the answers.
 * Trust: see talk.h.
 */
#ifndef APPPOOL_STORE_CLUSTER_ASK_H
#define APPPOOL_STORE_CLUSTER_ASK_H

#include "store/cluster/cluster.h"

/** What was answered. */
typedef struct {
    unsigned n;
    struct {
        store_address_t from;
        store_history_t history; /**< n = 0: it has no data */
    } answer[STORE_PEERS];
} store_answers_t;

/** Ask all at once.
 * @param ms   how long to wait for the slowest one
 * @param bell an eventfd that ends it; -1: none */
void store_ask(const store_cluster_hooks_t *, int ms, int bell,
               store_answers_t *);

/** A slave that has met no master, keeps its own data, or has an old copy: may it
 * be the master? The state of the follower gets the answer (follower_state.h). For
 * one with a fresh copy nothing is done: the host that was the master has perhaps
 * a change more, and nobody could be the next one.
 * @param bell as of store_ask() */
void store_ask_for_better(const store_cluster_hooks_t *, int bell);

/** Is this one of the hosts that ask and answer? Not a yrmcds. */
int store_ask_is_with(const store_cluster_t *, const store_address_t *);

#endif
