/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file rehearsal.h
 * @brief Does this httpd do what suspend.h needs? Each child watches its first
 *        connection that leaves its worker.
 *
 *     apppool_rehearsal_take(s)           the first one is watched
 *     apppool_rehearsal_done(s, step)     httpd has done this step
 *     apppool_rehearsal_ending(s)         the last step is due
 *     what = apppool_rehearsal_leave(s)   the connection is gone
 *     what = apppool_rehearsal_other()    another one is served
 *
 * They do nothing for other connections, and nothing at all when the rehearsal
 * is over. It is over when one connection has seen all steps. If the first ends
 * too soon, the next one is watched.
 *
 * A step that is not done when the connection is gone was not done by httpd. A
 * wake may also be late, so two connections have to miss it. Or the others show
 * it: the workers of event serve in the order in which sockets are ready. So a
 * step was left out if, long after it was due, more connections are served than
 * can have been before it.
 *
 * Lock: one mutex, for some instructions.
 */
#ifndef MOD_APPPOOL_PUMP_REHEARSAL_H
#define MOD_APPPOOL_PUMP_REHEARSAL_H

#include <apr_pools.h>
#include <stdint.h>

/** In their order. */
typedef enum {
    APPPOOL_REHEARSAL_RETURNED, /**< the handler's SUSPENDED is a state */
    APPPOOL_REHEARSAL_WAITS,    /**< suspend_connection, before httpd waits */
    APPPOOL_REHEARSAL_WOKEN,    /**< a worker has come */
    APPPOOL_REHEARSAL_WAITS_ON, /**< suspend_connection again */
    APPPOOL_REHEARSAL_CLOSED, /**< pre_close_connection: httpd closes it then */
    APPPOOL_REHEARSAL_STEPS
} apppool_rehearsal_step_t;

/** Begin, once in each child.
 * @param most connections that may wait for a worker before one */
apr_status_t apppool_rehearsal_begin(apr_pool_t *pchild, uint32_t most);

/** This connection is to be suspended: watch it, if none is watched. */
void apppool_rehearsal_take(const void *who);

/** @return 1: this step was due; 0: it was another one, or `who` is not
 * watched */
int apppool_rehearsal_done(const void *who, apppool_rehearsal_step_t step);

/** It is to end: only APPPOOL_REHEARSAL_CLOSED is left. */
void apppool_rehearsal_ending(const void *who);

/** It is gone. @return NULL; or words for the log: the step that was due */
const char *apppool_rehearsal_leave(const void *who);

/** A worker begins with another connection. @return the same: a step that does
 * not come. The rehearsal is over */
const char *apppool_rehearsal_other(void);

#endif
