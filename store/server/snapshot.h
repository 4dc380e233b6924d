/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file snapshot.h
 * @brief Saves all items to a file. At the next start snapshot_load.h loads them.
 *
 *     file:   header 32 | record | record | ...
 *     record: header 32 | key | value         an item of the space above
 *             header 32 | name                a space; exptime is its cas;
 *                                             first once without its items
 *             header 32 | store_history_t     where the items come from; first
 *             header 32                       the end; exptime counts items
 *
 * Each record has a check of its own. So a file that is truncated or damaged
 * yields all records that are sound: the reader skips to the next header that
 * is right. The file is used where it lies, and emptied after it was loaded, so
 * the store needs no right in its directory.
 *
 * Lock:  none: there are no workers when it is saved and loaded.
 * Errors: -1 and errno.
 * Crash: a save that is killed leaves the items that it has written.
 */
#ifndef APPPOOL_STORE_SERVER_SNAPSHOT_H
#define APPPOOL_STORE_SERVER_SNAPSHOT_H

#include "store/memory/space.h"
#include "store/server/record.h"

typedef struct {
    uint64_t items;          /**< that were saved or loaded */
    uint64_t bytes;          /**< of the file */
    uint64_t expired;        /**< that had no more time */
    uint64_t dropped;        /**< that have no space, or no room in it */
    uint64_t damaged;        /**< places where bytes had to be skipped */
    int late;                /**< 1: the load or the save was given up */
    int complete;            /**< all was saved; the end was found */
    store_history_t history; /**< of the items; n = 0: there is none. It is
                                saved, or was loaded */
    unsigned char key[STORE_RECORD_KEY];
} store_snapshot_t;

/** Empty the file, and begin. @param history of the items; n = 0: there is none
 */
int store_snapshot_begin(int fd, const store_history_t *history,
                         store_snapshot_t *);

/** Append the header of a space: its cas, and the flush that is due. The headers
 * of all spaces come before the first item, so that each part of the file has
 * them. */
int store_snapshot_space(int fd, const store_space_t *, store_snapshot_t *);

/** Append a space with its items.
 * @param go_on is asked before some buckets, and before each item that is saved.
 *              0: save no more, and look at no more items
 * @return 0; 1: it was given up, so items may be left; -1: errno */
int store_snapshot_save(int fd, store_space_t *, int (*go_on)(void),
                        store_snapshot_t *);

/** Append the end. */
int store_snapshot_end(int fd, store_snapshot_t *);

#endif
