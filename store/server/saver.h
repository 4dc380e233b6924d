/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file saver.h
 * @brief The periodic save: a thread writes all items to a file while the store
 *        serves, so that a power cut costs minutes, and not all.
 *
 * It goes over all spaces, some buckets at a time, and pauses after each slice.
 * So it takes a part of one CPU, and no other thread waits for the disk. What
 * it has written goes to the disk at once: neither the caches of the kernel nor
 * its queue are filled with it.
 *
 * Lock:  the spaces, while it copies items of one; a bucket at a time.
 * Crash: the file has no end then, so the older one counts (save.h).
 */
#ifndef APPPOOL_STORE_SERVER_SAVER_H
#define APPPOOL_STORE_SERVER_SAVER_H

#include "store/server/save.h"

/** Main thread; at any time. @param every_s s from the end of one save to the
 * beginning of the next; 0: none */
void store_saver_configure(unsigned every_s);

/** Start the thread. @param files stay. With one that cannot be used, nothing
 * is saved. @return 0, or -1: errno */
int store_saver_start(const store_save_files_t *files);

/** Stop it, also in the middle of a file. */
void store_saver_stop(void);

#endif
