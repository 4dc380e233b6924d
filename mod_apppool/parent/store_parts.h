/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store_parts.h
 * @brief What the store has and httpd's parent keeps for it: memory, figures,
 *        the mailbox of its listening sockets, and its bell
 *        (base/contract.h).
 *
 * They are made with each instance, because a watchdog that runs can get no
 * more descriptors. Until a store uses them, they use no memory.
 *
 * Crash: they are gone when parent, watchdog and store are gone.
 * Trust: the store can write all of it, except that it cannot shrink the
 *        memfds. Children of httpd only have the mapping of the figures, and
 *        cannot make it writable.
 */
#ifndef MOD_APPPOOL_PARENT_STORE_PARTS_H
#define MOD_APPPOOL_PARENT_STORE_PARTS_H

#include <apr.h>

/** Close-on-exec; -1: it is missing. */
typedef struct {
    apr_int32_t items, figures, mailbox, mailbox_end, bell;
    void *figures_map; /**< read-only; NULL: it is missing */
} apppool_store_parts_t;

/**
 * Make the parts.
 * @return 0, or errno: some or all of them are missing then
 */
int apppool_store_parts_make(apppool_store_parts_t *parts);

#endif
