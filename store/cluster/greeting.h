/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file greeting.h
 * @brief What a slave says first, and what a master answers.
 *
 * A slave of ours begins with a hello: its version, its clock, its spaces. A
 * yrmcds sends a NUL, or nothing for 2 s.
 *
 * Lock:  none; one thread. It may wait for the socket.
 * Trust: the slave may send anything. The list of spaces is a string; each name
 *        and size in it may be anything.
 */
#ifndef APPPOOL_STORE_CLUSTER_GREETING_H
#define APPPOOL_STORE_CLUSTER_GREETING_H

#include "store/cluster/slave_link.h"
#include "store/cluster/wire.h"

typedef struct {
    int ours;         /**< 0: a yrmcds, which has said nothing else */
    uint32_t version; /**< of the other store */
    int64_t clock;    /**< s since 1970 there */
    char spaces[STORE_WIRE_HELLO_MAX + 1]; /**< "NAME SIZE\n"..., a string */
    store_history_t history;               /**< of its data; n = 0: none */
} store_greeting_t;

/**
 * Finish the handshake, and take the first bytes of a slave.
 * @param has_secret the slave speaks TLS, so it is one of ours
 * @param timeout    s for all of it
 * @param why        gets the reason of -1
 * @return 0, or -1
 */
int store_greeting_take(store_stream_t *, int has_secret, unsigned timeout,
                        store_greeting_t *, const char **why);

/** The size of this space in the list. @return 0: it is not there */
uint64_t store_greeting_size(const store_greeting_t *, const char *name);

/** Log what of these spaces the slave cannot keep, and whether its clock is
 * apart. @param name of the slave */
void store_greeting_compare(const store_greeting_t *,
                            store_space_t *const *spaces, unsigned n,
                            const char *name);

/** Send a hello with these spaces, and this history of the data.
 * @return 0, or -1: see slave_link.h */
int store_greeting_send(store_slave_link_t *, store_space_t *const *spaces,
                        unsigned n, const store_history_t *);

#endif
