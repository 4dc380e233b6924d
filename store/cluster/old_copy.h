/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file old_copy.h
 * @brief What a slave has is kept until it has the next copy.
 *
 *     begin: each item is marked as old      `lacks` of the directory is
 *                                            STORE_LACKS_NEWER
 *     the copy: an item that comes replaces the old one of its key
 *     end: what is still marked goes         STORE_LACKS_NOTHING
 *
 * A slave that is promoted in between serves both: the old items of the keys
 * that had not come, and the new ones. So nothing is missing that it had, but a
 * key may be there that was deleted meanwhile.
 *
 * A part of a copy is not kept. A space that has no room for both evicts old
 * items and no new ones. If it evicts nothing (AppStoreEvict Off), or that is
 * not enough, it gives all old items up: the new ones are those of the master.
 *
 * Lock:  one thread. It takes bucket locks.
 * Crash: an item keeps its mark, and `lacks` its value. Marks that are left by
 *        a promotion mean nothing: the next copy marks all items.
 */
#ifndef APPPOOL_STORE_CLUSTER_OLD_COPY_H
#define APPPOOL_STORE_CLUSTER_OLD_COPY_H

#include "store/cluster/cluster.h"
#include "store/cluster/wire.h"

typedef struct {
    const store_cluster_hooks_t *hooks;
    int is_plain;           /**< the open space only is exchanged */
    void (*progress)(void); /**< called again and again; NULL: no */
    int is_kept;            /**< there are old items */
    /* By slot: */
    uint32_t cursor[STORE_SPACES]; /**< buckets whose old items have gone */
    char is_given_up[STORE_SPACES];
} store_old_copy_t;

/** May the other host have this space? */
int store_old_copy_is_shared(const store_old_copy_t *, const store_space_t *);

/** Mark the items of all shared spaces, or remove them if they are no copy that
 * is worth it. @param begins called before, with 1: they are kept; NULL: no */
void store_old_copy_begin(store_old_copy_t *, void (*begins)(int is_kept));

/** Make the item of a set that has come (item.h). If there is no room for it,
 * old ones go. @return NULL: there is no room */
store_item_t *store_old_copy_make(store_old_copy_t *, store_space_t *,
                                  const char *key, const store_packet_t *,
                                  uint32_t exptime);

/** The copy is complete: the items that are still marked go. */
void store_old_copy_end(store_old_copy_t *);

#endif
