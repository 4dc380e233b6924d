/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file wait_facts.h
 * @brief Why a request waits, or has waited in vain: for the log, for the page
 *        that the client gets, and for the problems of the status.
 *
 * Lock:  none. Each request that is refused asks, and looks at all processes of
 *        the pool, which must not make others wait. The numbers may be of
 *        moments that are some microseconds apart.
 * Trust: only people read these numbers, and Retry-After. No decision depends
 *        on them.
 */
#ifndef APPPOOL_SHM_VERBS_WAIT_FACTS_H
#define APPPOOL_SHM_VERBS_WAIT_FACTS_H

#include "base/sentence.h"
#include "shm/slots/group.h"

/** What is true of an app at one moment. */
typedef struct {
    uint32_t processes; /**< that take requests */
    uint32_t hung;      /**< of these */
    uint32_t starting;
    uint32_t waiting; /**< requests in its queue */
    int64_t busy;     /**< us since one of its processes got or ended a request;
                       * while requests wait, all have been busy since then */
    int64_t clears;   /**< us until the queue is empty if requests go on to take
                       * as long as they did; 0: not known */
    uint32_t app_max; /**< MaxInstances, if it has as many; else 0 */
    uint32_t pool_max; /**< MaxPoolSize, if the pool has as many; else 0 */
} apl_wait_facts_t;

/** @return 1; 0: the app has no group */
int apl_wait_facts_read(apl_pool_t *pool, const apl_app_t *app,
                        apl_wait_facts_t *facts, int64_t now);

/** Append why: "all 4 processes have been busy for 3 s, 1 of them hung
 * (MaxInstances 4)". @param start what a start does that lasts long; "" */
void apl_wait_facts_say(sentence_t *s, const apl_wait_facts_t *facts,
                        const char *start);

#endif
