/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file space.h
 * @brief One tenant: a name, a size, its own memory and keys.
 *
 * A space is opened once and stays until the store ends.
 *
 * Lock:  store_space_open and store_space_configure: the main thread.
 * Errors: -1 and errno.
 */
#ifndef APPPOOL_STORE_MEMORY_SPACE_H
#define APPPOOL_STORE_MEMORY_SPACE_H

#include "store/memory/extent.h"

/** The options of a space, from the table. */
typedef struct {
    const char *name;
    uint64_t size; /**< bytes */
    int evict;
    void (*progress)(void); /**< called again and again while items are
                               recovered, which may take minutes; NULL: no */
} store_space_options_t;

/**
 * Find the space in the directory or make it, and recover its items.
 * @return NULL: no entry is free, or no memory
 */
store_space_t *store_space_open(const store_space_options_t *);

/** Apply options that have changed. A smaller size evicts, a slice for each
 * call of store_sweeper_run(). */
void store_space_configure(store_space_t *, const store_space_options_t *);

/** After the space has become larger: make its table larger, in small parts.
 * The main thread. @return 1: there is more to do */
int store_space_grow(store_space_t *);

/** All items that exist now are dead.
 * @param delay s; 0: at once; a negative one counts as 0 */
void store_space_flush(store_space_t *, int64_t delay);

/** Remove all items and every flush, for a slave that takes a copy. The cas
 * counter stays. @param progress called again and again; NULL: no */
void store_space_empty(store_space_t *, void (*progress)(void));

/** All items are an old copy from now on (STORE_OLD_COPY), and no flush is
 * known any more. @param progress called again and again; NULL: no */
void store_space_age(store_space_t *, void (*progress)(void));

/** Remove what is an old copy. */
void store_space_forget_old(store_space_t *, void (*progress)(void));

/** Wait for each flush that has begun: what it flushes is dead then. Any
 * thread, without a lock. */
void store_space_await_flushes(void);

/** @name for a slave, which gets them from its master; and for a promotion.
 * Any thread
 * @{ */
/** The counter of cas becomes at least that. */
void store_space_raise_cas(store_space_t *, uint64_t cas);
/** The items with this cas or a lower one are dead. No flush is to come. */
void store_space_flushed(store_space_t *, uint64_t cas);
/** A flush is due then. @param at s on the store's clock; 0: no flush */
void store_space_flush_at(store_space_t *, uint32_t at);
/** @} */

/** Forget the space, at the end. Its items stay in the memfd. NULL: nothing. */
void store_space_close(store_space_t *);

/** What is due: a flush with a delay. Once a second, by the main thread. Not on
 * a slave: its master flushes. */
void store_space_tick(store_space_t *);

#endif
