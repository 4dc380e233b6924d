/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file apply.h
 * @brief What a master sends, applied to the spaces of this store. No socket.
 *
 * The hello of the master decides whether this slave forgets its items for it.
 * What the spaces had that the master may have is an old copy from then on
 * (old_copy.h). A value is read straight into its item, so one of 30 MiB needs
 * no buffer. An item that has no room here is not kept, and neither is an older
 * one of the same key.
 *
 * Lock:  one thread. It takes bucket locks.
 * Crash: an item that is not complete is free after the recovery.
 * Trust: the bytes may be anything. Names are printed after a check. A master
 *        that has proven nothing reaches no space but the open one.
 */
#ifndef APPPOOL_STORE_CLUSTER_APPLY_H
#define APPPOOL_STORE_CLUSTER_APPLY_H

#include "store/cluster/cluster.h"
#include "store/cluster/mark.h"

/** The buffer of the caller has room for that much, so that each packet without
 * its value fits. */
#define STORE_APPLY_BUFFER 65536

typedef struct store_apply store_apply_t;

/** What has been applied. */
typedef struct {
    int has_begun;   /**< a copy has */
    int is_kept;     /**< the items that were here stay until it is complete */
    int is_declined; /**< the data here is better than the master's: no copy has
                          begun */
    int is_complete; /**< the copy is: a master of ours has said so. It is not
                          while a space is copied that came later */
    int is_yrmcds;   /**< only the open space is exchanged */
    uint64_t items;  /**< of the copy, and changes before its end */
    uint64_t received;           /**< changes since then */
    uint64_t no_room;            /**< items that could not be kept */
    char no_room_in[STORE_NAME]; /**< the space of the last of them */
    store_mark_t mark;
    const char *error; /**< why the connection has to end; NULL: no reason */
} store_applied_t;

/**
 * @param is_plain 1: the master has not proven that it knows the secret. If
 *                 there is one, the master has to be yrmcds
 * @param is_quiet 1: do not log how the spaces differ
 * @param begins   called before the first item is forgotten, or with 1 before
 *                 the items become an old copy, which is kept; NULL: no
 * @param progress called again and again while all items are gone over; NULL:
 * no
 * @return NULL: no memory
 */
store_apply_t *store_apply_make(const store_cluster_hooks_t *, int is_plain,
                                int is_quiet, void (*begins)(int is_kept),
                                void (*progress)(void));
void store_apply_free(store_apply_t *);

/** Apply bytes. @return how many were used, the caller keeps the rest; -1:
 * `error` of the result */
ssize_t store_apply_input(store_apply_t *, const char *bytes, size_t n);

/** Where the next bytes of a value may be put without a copy, when the buffer
 * is empty. @return NULL: nowhere */
char *store_apply_room(store_apply_t *, size_t *n);

/** That many bytes were put there. */
void store_apply_filled(store_apply_t *, size_t n);

/** Has a space come to this store since the copy began? Then the copy lacks
 * what the space had before. */
int store_apply_is_short(const store_apply_t *);

/** A yrmcds does not say that its copy is complete. The caller guesses it. */
void store_apply_complete(store_apply_t *);

const store_applied_t *store_apply_result(const store_apply_t *);

#endif
