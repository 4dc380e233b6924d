/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file current.h
 * @brief What a child of httpd has of the instance: its pool, its runtime
 *        directory and the figures of the store. lifecycle.c says what an
 *        instance is, and sets this.
 */
#ifndef MOD_APPPOOL_INSTANCE_CURRENT_H
#define MOD_APPPOOL_INSTANCE_CURRENT_H

#include "shm/format/segment.h"

typedef struct {
    apl_pool_t *pool; /**< in a child that may use it; NULL: there is none */
    const char *runtime;
    const void *figures; /**< of the store, CONTRACT_FIGURES_SIZE bytes: the
                            store writes them at any time, and may write
                            anything. They are zero while no store has run.
                            NULL: there are none */
    int is_dying; /**< of a child of prefork that ends: it must not take the
                            pool lock */
} apppool_current_t;

/** It belongs to this process. */
apppool_current_t *apppool_current(void);

#endif
