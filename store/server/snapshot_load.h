/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file snapshot_load.h
 * @brief Loads the items of a file that snapshot.h has written.
 *
 * A thread reads and checks the records, while this one makes the items.
 *
 * Lock:  none: there are no workers then.
 * Errors: -1 and errno.
 * Crash: a load that is killed leaves the file as it is, and the next one goes
 *        on: an item that is there already stays.
 * Trust: the file may have any bytes. No length is believed before its check.
 */
#ifndef APPPOOL_STORE_SERVER_SNAPSHOT_LOAD_H
#define APPPOOL_STORE_SERVER_SNAPSHOT_LOAD_H

#include "store/server/snapshot.h"

/** What a file says of itself. */
typedef struct {
    uint32_t number; /**< of the file */
    int whole;       /**< its end was written */
    int live;        /**< 1: while the store served */
    int64_t at;      /**< s since 1970: its end; 0: not known */
    int64_t changed; /**< ns since 1970: the file, last */
} store_snapshot_head_t;

/** Why a file is refused that another build will load again. */
#define STORE_SNAPSHOT_NEWER "a newer build has saved it"

/** May the store write this file? It empties what is there, so it must be its
 * own, and not be one that another build will load again.
 * @return NULL: yes; why not */
const char *store_snapshot_why_not(int fd);

/** Look at a file. @return 0: it is empty */
int store_snapshot_look(int fd, store_snapshot_head_t *);

/**
 * Load what is there.
 * @param find  the space of a name; NULL: there is no such space now
 * @param go_on is asked again and again. 0: load no more
 */
int store_snapshot_load(int fd, store_space_t *(*find)(const char *name),
                        int (*go_on)(void), store_snapshot_t *);

#endif
