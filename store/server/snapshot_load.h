/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file snapshot_load.h
 * @brief Loads the items of a file that snapshot.h has written.
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

/**
 * Load what is there.
 * @param find  the space of a name; NULL: there is no such space now
 * @param go_on is asked before each record. 0: load no more
 */
int store_snapshot_load(int fd, store_space_t *(*find)(const char *name),
                        int (*go_on)(void), store_snapshot_t *);

#endif
