/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file peers.h
 * @brief The hosts of AppStorePeers ask each other which data they have, before
 *        one of them becomes the first master, and answer.
 *
 *     host that asks    handshake -> its hello -----> the other hello -> end
 *     host that answers handshake -> that hello -> its own hello --> end
 *
 * Each host answers at its own address of AppStorePeers, also if it is not the
 * master. A host without such an address, for example while its network is not
 * up, answers nobody. It looks for the address once a second. A host that is in
 * AppStorePlainPeers beside a key neither asks nor answers.
 *
 * Lock:  one thread asks, and waits for the answers. The main thread answers,
 *        and waits for nobody.
 * Trust: the other end may send anything, and any user of its host may connect.
 *        With a secret, nobody gets beyond the handshake without it. A new one
 *        that asks takes the place of the oldest one of the host that has most
 *        of them. So a host that says nothing keeps no other one out, and
 *        neither does one that connects very often.
 */
#ifndef APPPOOL_STORE_CLUSTER_PEERS_H
#define APPPOOL_STORE_CLUSTER_PEERS_H

#include "store/cluster/cluster.h"

/** What was answered. */
typedef struct {
    unsigned n;
    struct {
        store_address_t from;
        store_history_t history; /**< n = 0: it has no data */
        int is_master;
    } answer[STORE_PEERS];
} store_answers_t;

/** Ask all at once.
 * @param ms   how long to wait for the slowest one
 * @param bell an eventfd that ends it; -1: none */
void store_peers_ask(const store_cluster_hooks_t *, int ms, int bell,
                     store_answers_t *);

/** A slave that has met no master, keeps its own data, or has an old copy: may
 * it be the master? The state of the follower gets the answer
 * (follower_state.h). For one with a fresh copy nothing is done: the host that
 * was the master has perhaps a change more, and nobody could be the next one.
 * @param bell as of store_peers_ask() */
void store_peers_ask_for_better(const store_cluster_hooks_t *, int bell);

/** Before this host begins as the master, if its memory was not a master's: ask
 * the others which data they have, for at most 1 s. The address is here, so
 * nobody else may serve. But this host is not ready if another one has better
 * data. The main thread. */
void store_peers_ask_as_master(const store_cluster_hooks_t *);

/** It is the master now. What was answered may be claims
 * (store_claim.h). */
void store_peers_hear_answers(void);

/** Is this one of the hosts that ask and answer? Not a yrmcds. */
int store_peers_is_one(const store_cluster_t *, const store_address_t *);

/** @name to answer
 * @{ */
void store_peers_begin(const store_cluster_hooks_t *);

/** Once a second. @param now ms */
void store_peers_tick(int64_t now);

/** Does another socket have the port at its address? Then the other hosts do
 * not learn what this one has, and an older one may become the master. */
int store_peers_is_deaf(void);

void store_peers_end(void);
/** @} */

#endif
