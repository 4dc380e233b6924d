/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file feeder.h
 * @brief The thread that feeds one slave: all items first, and each change from
 *        then on.
 *
 *     greeting -> place in the list = its end -> copy, and the list meanwhile
 *              -> complete -> list, for ever
 *
 * If writes wait for slaves (confirm.h), the slave has to echo a mark behind
 * the copy before it is complete.
 *
 * sender.h says what is sent of each change, and when the position is marked.
 *
 * Lock:  the functions: the main thread. The thread takes bucket locks, and the
 *        lock of the list. It waits for its slave only without a lock.
 * Trust: see hello.h and slave_link.h.
 */
#ifndef APPPOOL_STORE_CLUSTER_FEEDER_H
#define APPPOOL_STORE_CLUSTER_FEEDER_H

#include "store/cluster/cluster.h"

typedef struct store_feeder store_feeder_t;

/** The slave that is fed. */
typedef struct {
    unsigned slot; /**< of the list's readers, and of the figures */
    store_address_t address;
    uint64_t number; /**< it has come after those with a lower one */
    int has_secret;  /**< it has to know the secret. If not, it gets the open
                         space only, whatever it speaks */
} store_slave_t;

/** Start the thread. Takes the descriptor. The list of changes is open.
 * @return NULL: errno */
store_feeder_t *store_feeder_start(const store_cluster_hooks_t *,
                                   const store_slave_t *, int fd);

/** Has it said which host it is? With a secret it has also proven that it is a
 * store. */
int store_feeder_has_joined(const store_feeder_t *);

/** Why one that has ended did not join; NULL: it has joined, or keeps its own
 * data, or was ended */
const char *store_feeder_refusal(const store_feeder_t *);

/** Has the thread ended? */
int store_feeder_is_over(const store_feeder_t *);

/** Did it end because the slave was too slow? */
int store_feeder_is_overtaken(const store_feeder_t *);

/** Has the slave the whole copy? */
int store_feeder_is_complete(const store_feeder_t *);

/** Has its kernel acknowledged all changes? While no command is served. */
int store_feeder_is_drained(const store_feeder_t *);

const store_slave_t *store_feeder_slave(const store_feeder_t *);

/** Once a second: the figures of the slave. */
void store_feeder_count(const store_feeder_t *);

/** Close the connection, which ends the thread, wherever it waits. NULL:
 * nothing. */
void store_feeder_end(store_feeder_t *);

#endif
