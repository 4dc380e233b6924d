/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file keep.h
 * @brief When items are saved and loaded, and the log lines about that.
 *
 * Lock:  none: the main thread, without workers.
 */
#ifndef APPPOOL_STORE_SERVER_KEEP_H
#define APPPOOL_STORE_SERVER_KEEP_H

/** Is there nothing in the memfd, not even a space? Before the spaces are
 * opened. */
int store_keep_is_new(void);

/**
 * Load the file, and empty it. What is in a memfd that is not new is newer than
 * the file, which is emptied then.
 * @param fd -1: nothing is done
 */
void store_keep_load(int fd, int is_new);

/** Save all spaces that are served. @param fd -1: nothing is done */
void store_keep_save(int fd);

#endif
