/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file save.h
 * @brief When items are saved and loaded, and the log lines about that.
 *
 * Lock:  none: the main thread, without workers.
 */
#ifndef APPPOOL_STORE_SERVER_SAVE_H
#define APPPOOL_STORE_SERVER_SAVE_H

#include "store/server/save_files.h"

/** AppStoreSaveTime, and the second value of AppStoreSave.
 * @param limit_s s that store_save_save() may take
 * @param every_s s from one periodic save to the next; 0: there is none */
void store_save_configure(unsigned limit_s, unsigned every_s);

/**
 * Load the newest whole file into a new memfd. A store that was killed before the
 * end of that has left the files, and the next one goes on. What is in any other
 * memfd is newer than the files. Without a periodic save they are empty after
 * that: they would be old when they are needed.
 * @return 0: SIGTERM has come before the end. The files stay as they are, so
 *         nothing may be saved
 */
int store_save_load(const store_save_files_t *);

/** Save all spaces that are served. */
void store_save_save(const store_save_files_t *);

/** Load the large values that the store of an older build has left in the
 * mailbox, as "=large values": they were in files, and everything else is in the
 * memory. When httpd stops, this gives up after some seconds: the time is needed
 * to save the items. Errors, and what is lost, are logged. */
void store_save_load_large(void);

#endif
