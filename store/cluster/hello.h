/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file hello.h
 * @brief The first packet between two stores: clock, spaces with their sizes,
 *        and the history of the data.
 *
 * Lock:  none; any thread.
 * Trust: the other store may send anything. store_wire_head() has checked the
 *        lengths.
 */
#ifndef APPPOOL_STORE_CLUSTER_HELLO_H
#define APPPOOL_STORE_CLUSTER_HELLO_H

#include "store/cluster/cluster.h"
#include "store/cluster/wire.h"

/** The packet with these spaces.
 * @param n       how many, at most STORE_SPACES
 * @param history of the data (n = 0: it has none)
 * @param bits    STORE_WIRE_ASKS or 0
 * @return it, which the caller frees; NULL: no memory */
unsigned char *store_hello_of(store_space_t *const *spaces, unsigned n,
                              const store_history_t *history, uint32_t bits,
                              size_t *size);

/** The same with the spaces of this store that a master may have.
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

#endif
