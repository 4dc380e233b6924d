/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file confirm_wait.h
 * @brief The workers that hold replies until the slaves have confirmed.
 *
 * A worker says what it waits for, and looks once more (store_confirm_least())
 * before it sleeps. Whoever hears a slave stores what it has confirmed, and looks
 * at who waits. So one of them sees the other.
 *
 * Lock:  none; any thread. A worker writes its own place.
 */
#ifndef APPPOOL_STORE_CLUSTER_CONFIRM_WAIT_H
#define APPPOOL_STORE_CLUSTER_CONFIRM_WAIT_H

#include <stdint.h>

/** The worker of this number is woken by this eventfd, which is nonblocking.
 * @param bell -1: it has ended */
void store_confirm_bell(unsigned worker, int bell);

/** It holds replies from this position on; 0: none. */
void store_confirm_wait(unsigned worker, uint64_t position);

/** Does somebody hold a reply? Then changes are sent at once. */
int store_confirm_is_awaited(void);

/** All up to this position is confirmed: wake those that wait for it. Each one is
 * woken once until it says again what it waits for. */
void store_confirm_ring(uint64_t least);

#endif
