/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file hello.h
 * @brief The first packet between two stores: clock, spaces with their sizes,
 *        and the history of the data. And what a master takes of a slave first.
 *
 * A slave of ours begins with a hello. A yrmcds sends a NUL, or nothing for 2
 * s.
 *
 * Lock:  any thread. A greeting may wait for the socket.
 * Trust: the other store may send anything. store_wire_head() has checked the
 *        lengths. The list of spaces is a string; each name and size in it may
 *        be anything.
 */
#ifndef APPPOOL_STORE_CLUSTER_HELLO_H
#define APPPOOL_STORE_CLUSTER_HELLO_H

#include "store/cluster/cluster.h"
#include "store/cluster/slave_link.h"
#include "store/cluster/wire.h"

/** The packet with these spaces.
 * @param n       how many, at most STORE_SPACES
 * @param history of the data (n = 0: it has none)
 * @param bits    STORE_WIRE_ASKS or 0
 * @return it, which the caller frees; NULL: no memory */
unsigned char *store_hello_of(store_space_t *const *spaces, unsigned n,
                              const store_history_t *history, uint32_t bits,
                              size_t *size);

/** Make the hello with the spaces of this store that a master may have.
 * @param is_plain 1: it has not proven that it knows the secret, so it gets the
 *                 name of the open space only
 * @param n        gets the size */
unsigned char *store_hello_make(const store_cluster_hooks_t *, int is_plain,
                                const store_history_t *history, uint32_t bits,
                                size_t *n);

/** The history in the value of a hello.
 * @return 0, also if there is none, and `to->n` is 0 then; -1: it is damaged */
int store_hello_history(const char *value, size_t n, store_history_t *to);

/** Log what differs between this slave and its master: clocks that are apart,
 * spaces that only one of both has, spaces that are smaller here.
 * @param is_plain as of store_hello_make()
 * @param list p->value bytes, "NAME SIZE\n"... and the history */
void store_hello_compare(const store_cluster_hooks_t *, int is_plain,
                         const store_packet_t *p, const char *list);

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
