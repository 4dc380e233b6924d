/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file update.h
 * @brief The verbs that store a value: set, add, replace, append, prepend, cas.
 *
 * Lock, Crash, Trust: as in verbs.h.
 */
#ifndef APPPOOL_STORE_COMMAND_UPDATE_H
#define APPPOOL_STORE_COMMAND_UPDATE_H

#include "store/command/verbs.h"

/** How to update. */
typedef enum {
    STORE_MODE_SET,
    STORE_MODE_ADD,
    STORE_MODE_REPLACE,
    STORE_MODE_APPEND,
    STORE_MODE_PREPEND,
    STORE_MODE_CAS
} store_mode_t;

typedef struct {
    store_mode_t mode;
    uint64_t cas; /**< what the present item has to have; 0: any */
    bool stale;   /**< STORE_MODE_CAS: store an older one, marked as stale */
    bool unlock;  /**< REPLACE, CAS: this connection has locked it; unlock it */
} store_update_t;

/**
 * Put an item that was made for it and is filled, or a copy that contains it.
 * @param item stays the caller's to release
 * @param cas  the cas of what was stored; 0 if nothing was
 * @return STORE_DONE, STORE_NOT_STORED, STORE_EXISTS, STORE_NOT_FOUND,
 *         STORE_LOCKED_OUT, STORE_NOT_LOCKED
 */
store_result_t store_update(const store_caller_t *, store_item_t *item,
                            const store_update_t *, uint64_t *cas);

#endif
