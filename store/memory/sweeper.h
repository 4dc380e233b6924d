/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file sweeper.h
 * @brief Goes over the pages of a space: removes what has expired or was
 *        flushed, and makes a space smaller.
 *
 * No thread waits long for it. It gives the lock of the chunks back every few
 * microseconds, and tries one bucket lock at a time.
 *
 * Lock:  one thread runs the sweeper of a space. It holds no lock.
 * Crash: see format.h; the next sweeper begins again.
 */
#ifndef APPPOOL_STORE_MEMORY_SWEEPER_H
#define APPPOOL_STORE_MEMORY_SWEEPER_H

#include "store/memory/extent.h"

#define STORE_SWEEPER_CHUNKS 4096 /* a good slice: less than a millisecond */
#define STORE_SWEEPER_PAUSE  10   /* s from one pass to the next */

/** @return NULL: no memory */
struct store_sweep *store_sweeper_make(void);
void store_sweeper_free(struct store_sweep *);

/**
 * One slice. To use at most 5 % of a CPU, the caller pauses for 19 times the
 * time that the slice took.
 * @param chunks that it may look at
 * @return 1: the pass goes on. 0: it is complete
 */
int store_sweeper_run(store_space_t *, unsigned chunks);

#endif
