/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file sweeper_thread.h
 * @brief The thread that runs the sweeper of each space.
 *
 * Lock:  store_sweeper_thread_lock() keeps the thread from using any space. It
 *        waits for one slice of the sweeper. Only the main thread changes the
 *        list of spaces, so only it takes this lock.
 */
#ifndef APPPOOL_STORE_SERVER_SWEEPER_THREAD_H
#define APPPOOL_STORE_SERVER_SWEEPER_THREAD_H

#include "store/memory/space.h"

/** Start the thread.
 * @param nth a space for each number from 0 on; NULL: there are no more. The
 *            thread calls it while it has the lock
 * @return 0, or -1: errno */
int store_sweeper_thread_start(store_space_t *(*nth)(unsigned n));

/** End the thread. */
void store_sweeper_thread_stop(void);

void store_sweeper_thread_lock(void);
void store_sweeper_thread_unlock(void);

#endif
