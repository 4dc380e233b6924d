/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file caller.h
 * @brief Who calls a verb, and what a verb returns.
 *
 * Lock:  none; one worker.
 */
#ifndef APPPOOL_STORE_COMMAND_CALLER_H
#define APPPOOL_STORE_COMMAND_CALLER_H

#include "store/memory/extent.h"

struct store_locks;

/** Whose verbs: a space, the counters of the worker for it, the work, and what
 * the connection has locked. */
typedef struct {
    store_space_t *space;
    store_counters_t *counters;
    uint64_t *copied; /**< bytes of values that were copied are added; may be
                         NULL */
    struct store_locks *locks; /**< NULL: it has none, and can lock nothing */
} store_caller_t;

/** Results of all verbs. */
typedef enum {
    STORE_DONE,
    STORE_CREATED,
    STORE_NOT_STORED,
    STORE_EXISTS,
    STORE_NOT_FOUND,
    STORE_NOT_NUMERIC,
    STORE_NO_MEMORY,
    STORE_LOCKED_OUT,    /**< it is locked, and not by this connection */
    STORE_NOT_LOCKED,    /**< this connection has not locked it */
    STORE_TOO_MANY_LOCKS /**< this connection has STORE_LOCKS_MAX of them */
} store_result_t;

#endif
