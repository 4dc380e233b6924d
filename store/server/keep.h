/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file keep.h
 * @brief When items are saved and loaded, and the log lines about that.
 *
 * Lock:  none: the main thread, without workers.
 */
#ifndef APPPOOL_STORE_SERVER_KEEP_H
#define APPPOOL_STORE_SERVER_KEEP_H

/** The time that store_keep_save() has, AppStoreSaveTime. @param time s */
void store_keep_configure(unsigned time);

/**
 * Load the file into a new memfd, and empty it. A store that was killed before
 * the end of that has left the file, and the next one goes on. What is in any
 * other memfd is newer than the file, which is emptied then.
 * @param fd -1: nothing is done
 * @return 0: SIGTERM has come before the end. The file stays as it is, so
 *         nothing may be saved
 */
int store_keep_load(int fd);

/** Save all spaces that are served. @param fd -1: nothing is done */
void store_keep_save(int fd);

/** Load the large values that the store of an older build has left in the
 * mailbox, as "=large values": they were in files, and everything else is in the
 * memory. When httpd stops, this gives up after some seconds: the time is needed
 * to save the items. Errors, and what is lost, are logged. */
void store_keep_load_large(void);

#endif
