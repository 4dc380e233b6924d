/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file mark.h
 * @brief What the marks of a master tell its slave: how far the copy is, and how
 *        far it is behind.
 *
 * The clocks of two hosts count from different moments, so only differences are
 * compared: the mark that came the fastest shows how far they are apart. Nobody
 * sets CLOCK_MONOTONIC. But one host's may be faster than the other's, by less
 * than 1 in 2000, so what was found rises by that much.
 *
 * Lock:  none; one thread.
 * Trust: the clock may be anything.
 */
#ifndef APPPOOL_STORE_CLUSTER_MARK_H
#define APPPOOL_STORE_CLUSTER_MARK_H

#include "store/cluster/wire.h"

/** The newest mark that has come. What is before it is applied. */
typedef struct {
    uint64_t n;        /**< how many have come */
    uint64_t at_once;  /**< so many of them ask for an answer at once */
    uint64_t position; /**< of the master's data */
    uint32_t clock;    /**< ms: the master's, when it sent the mark */
} store_mark_t;

/** Another one has come. @return 0; -1: its position goes back */
int store_mark_take(store_mark_t *, const store_packet_t *);

/** Of one connection; all 0 at its beginning. */
typedef struct {
    int has_least;
    uint32_t least;   /**< ms: this host's clock less the master's, if a mark
                         needs no time */
    int64_t least_at; /**< ms: when that was so */
} store_lag_t;

/** @param clock ms, of a mark @param now ms, of clock_ms(): when it came
 * @return ms: how long it has been on its way; the fastest one: 0 */
int64_t store_lag_of(store_lag_t *, uint32_t clock, int64_t now);

#endif
