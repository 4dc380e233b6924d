/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file snapshot.h
 * @brief Saves all items to a file. At the next start snapshot_load.h loads
 *        them.
 *
 *     file:   header 32 | record | record | ...
 *     record: header 32 | key | value         an item of the space above
 *             header 32 | name                a space; exptime is its cas;
 *                                             first once without its items
 *             header 32 | store_history_t     where the items come from; first
 *             header 32                       the end; exptime counts items
 *
 * Each record has a check of its own, and so has its header. So a file that is
 * truncated or damaged yields all records that are sound: the reader skips to
 * the next header that is right. What clients have put into values does not
 * cost it more time than other bytes. The file is used where it lies, and
 * emptied after it was loaded, so the store needs no right in its directory.
 *
 * Each build reads the files of all builds before it. So in a new field, 0
 * stands for what there was before. A build also skips kinds of records that it
 * does not know. But it reads no file of a higher version (record.h).
 *
 * Lock:  none is held. It takes the lock of each bucket, so other threads may
 *        serve meanwhile. An item that is there during the whole save is in the
 *        file, with one of its values of that time.
 * Errors: -1 and errno.
 * Crash: a save that is killed leaves the items that it has written.
 */
#ifndef APPPOOL_STORE_SERVER_SNAPSHOT_H
#define APPPOOL_STORE_SERVER_SNAPSHOT_H

#include "store/memory/space.h"
#include "store/server/record.h"

typedef struct {
    uint64_t items;           /**< that were saved or loaded */
    uint64_t bytes;           /**< of the file */
    uint64_t expired;         /**< that had no more time */
    uint64_t dropped;         /**< that have no space, or no room in it */
    uint64_t damaged;         /**< places where bytes had to be skipped */
    int late;                 /**< 1: the load or the save was given up */
    int complete;             /**< all was saved; the end was found */
    store_history_t history;  /**< of the items; n = 0: there is none. It is
                                saved, or was loaded */
    store_record_file_t file; /**< its beginning */
} store_snapshot_t;

/** A file that is being written. What is put into it is gathered in memory. */
typedef struct {
    int fd;
    int error;             /**< errno; 0: none. Nothing is written then */
    store_snapshot_t done; /**< what was written */
    int (*go_on)(void);    /**< is asked again and again. 0: save no more */
    uint64_t ahead;        /**< the cas of a space is told larger by that,
                                because others are served meanwhile; 0: none
                                are */
    char *bytes;           /**< that are not written yet */
    size_t n, room;
    size_t look_at;       /**< go_on is asked at so many bytes */
    uint64_t items;       /**< in these bytes */
    store_item_t **taken; /**< of some buckets, with references */
    unsigned n_taken, room_taken;
    int is_full;  /**< the buckets have more */
    uint32_t now; /**< s on the store's clock */
} store_save_t;

/** Empty the file, and begin. Then call store_snapshot_close() in any case.
 * @param history of the items; n = 0: there is none
 * @param number  of the file
 * @return 0; -1: errno */
int store_snapshot_begin(store_save_t *, int fd, uint32_t number,
                         int (*go_on)(void), const store_history_t *history);

/** Put the header of a space: its cas, and the flush that is due. The headers
 * of all spaces come before the first item, so that each part of the file has
 * them. Then the header comes again, before the items of the space. */
void store_snapshot_space(store_save_t *, const store_space_t *);

/** Put items of some buckets. They are copied with a reference, and not under
 * the lock of a bucket. Nothing is written to the file.
 * @param cursor 0 at the beginning
 * @return 1: there may be more; 0: no more, or `error` or `done.late` */
int store_snapshot_fill(store_save_t *, store_space_t *, uint32_t *cursor);

/** Write what was put. @return 0; -1: errno */
int store_snapshot_write(store_save_t *);

/** Write a space with all its items. A thread writes while the next ones are
 * put.
 * @return 0; 1: it was given up, so items may be left; -1: `error` */
int store_snapshot_save(store_save_t *, store_space_t *);

/** Write the rest, and the end. @return 0; -1: errno */
int store_snapshot_end(store_save_t *);

/** Free what it has. `done` stays. */
void store_snapshot_close(store_save_t *);

#endif
