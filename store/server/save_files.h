/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file save_files.h
 * @brief The two files of AppStoreSave: FILE and FILE.2.
 *
 * The store has no right in their directory, so it cannot replace a file by
 * another one. It writes the one that is not the newest whole one, and so there
 * is a whole one at each moment after the first. A file is whole when its end
 * was written, which is the last thing that is. Each has a number, and the next
 * one that is written has a higher number.
 *
 * Lock:  none; one thread at a time.
 * Crash: a file without an end counts only if none is whole.
 * Trust: the files may have any bytes.
 */
#ifndef APPPOOL_STORE_SERVER_SAVE_FILES_H
#define APPPOOL_STORE_SERVER_SAVE_FILES_H

#include "store/server/snapshot_load.h"

#define STORE_SAVE_FILES 2

/** Their descriptors; -1: it cannot be used. */
typedef struct {
    int fd[STORE_SAVE_FILES];
} store_save_files_t;

/** The one to load: the newest whole one, or the newest one.
 * @param head gets what is known about it
 * @return its descriptor; -1: none has anything */
int store_save_files_newest(const store_save_files_t *,
                            store_snapshot_head_t *head);

/** The one to write. @param number gets its number
 * @return its descriptor; -1: none can be used, or `spare` and there is no file
 *         but the whole one
 * @param spare 1: the newest whole file has to stay */
int store_save_files_next(const store_save_files_t *, int spare,
                          uint32_t *number);

/** Empty both. @return 0, or errno */
int store_save_files_empty(const store_save_files_t *);

#endif
