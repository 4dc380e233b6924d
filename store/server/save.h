/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file save.h
 * @brief AppStoreSave: which of the two files is loaded and written, when that
 *        is done at a start and at a stop, and the log lines about it.
 *
 * The store has no right in the directory of FILE and FILE.2, so it cannot
 * replace a file by another one. It writes the one that is not the newest whole
 * one, and so there is a whole one at each moment after the first. A file is
 * whole when its end was written, which is the last thing that is. Each has a
 * number, and the next one that is written has a higher number.
 *
 * Lock:  one thread at a time uses the files. All else: the main thread,
 *        without workers.
 * Crash: a file without an end counts only if none is whole.
 * Trust: the files may have any bytes.
 */
#ifndef APPPOOL_STORE_SERVER_SAVE_H
#define APPPOOL_STORE_SERVER_SAVE_H

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

/** AppStoreSaveTime, and the second value of AppStoreSave.
 * @param limit_s s that store_save_save() may take
 * @param every_s s from one periodic save to the next; 0: there is none */
void store_save_configure(unsigned limit_s, unsigned every_s);

/**
 * Load the newest whole file into a new memfd. A store that was killed before
 * the end of that has left the files, and the next one goes on. What is in any
 * other memfd is newer than the files. Without a periodic save they are empty
 * after that: they would be old when they are needed.
 * @return 0: SIGTERM has come before the end. The files stay as they are, so
 *         nothing may be saved
 */
int store_save_load(const store_save_files_t *);

/** Save all spaces that are served. */
void store_save_save(const store_save_files_t *);

/** Load the large values that the store of an older build has left in the
 * mailbox, as "=large values": they were in files, and everything else is in
 * the memory. When httpd stops, this gives up after some seconds: the time is
 * needed to save the items. Errors, and what is lost, are logged. */
void store_save_load_large(void);

#endif
