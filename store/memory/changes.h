/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file changes.h
 * @brief The list of changed keys, from which a master feeds its slaves.
 *
 * The list has no values. A change names a space, a key and its cas. Whoever
 * feeds a slave looks the key up and sends its present state. So a slave sees
 * the states of a key in the order in which the master had them, and a key that
 * changes often is sent once when the slave lags behind. Changes are kept in a
 * ring of a fixed size. A reader that is slower than the writers is overtaken,
 * and is told so.
 *
 * The list is private memory. It is made when the first slave joins: until then
 * a change costs one test of a variable.
 *
 * Lock:  store_changes_add() is called under a bucket lock, and takes the lock
 *        of the list inside of it. It makes no system call. The readers take
 *        the lock of the list alone.
 * Crash: the list is gone with the process. Slaves join again.
 * Source: the design of yrmcds sends values; this list replaces that (Y30-Y34).
 */
#ifndef APPPOOL_STORE_MEMORY_CHANGES_H
#define APPPOOL_STORE_MEMORY_CHANGES_H

#include <stddef.h>

#include "store/memory/extent.h"

/** What has happened to a key, or to a space. */
typedef enum {
    STORE_CHANGE_PUT = 1, /**< a new item was published, or its bits changed */
    STORE_CHANGE_REMOVE,  /**< deleted, evicted, expired or flushed */
    STORE_CHANGE_TOUCH,   /**< only its expiry time has changed */
    STORE_CHANGE_FLUSH,   /**< all items up to this cas are dead; no key */
    STORE_CHANGE_FLUSH_LATER /**< a flush has a time now; no key */
} store_change_kind_t;

/** One change, as a reader gets it. */
typedef struct {
    store_space_t *space;
    store_change_kind_t kind;
    uint8_t klen; /**< FLUSH: 0 */
    char key[STORE_KEY_MAX];
    uint64_t cas;
    uint64_t position; /**< of the data, after this change */
} store_change_t;

/** A reader's place in the list. */
typedef struct {
    uint64_t at;       /**< bytes since the list was made */
    uint64_t n;        /**< changes since then */
    uint64_t position; /**< all changes up to this position are before it */
} store_cursor_t;

/**
 * Make the list, or keep it when it is there. Call this before a cursor is
 * made.
 * @param bytes of the ring (AppStoreChanges)
 * @return 0, or -1: no memory
 */
int store_changes_open(size_t bytes);

/** No slave is left, or none has come yet: changes are only counted from now
 * on. Readers have ended. */
void store_changes_close(void);

/**
 * Note a change. Under the lock of the key's bucket, after the change itself: a
 * reader that then looks the key up finds this state or a newer one, and for a
 * newer one there is another change in the list.
 *
 * FLUSH is noted before the items are dead, without a lock of a bucket. So a
 * reader cannot take an item that came after the flush for one before it. What
 * it takes for alive although it is dead is removed later, and that is a change
 * of its own. A reader that joins waits for the flushes that have begun
 * (store_space_await_flushes()).
 */
void store_changes_add(store_space_t *, store_change_kind_t, const void *key,
                       uint8_t klen, uint64_t cas);

/**
 * Where the position of the data is counted: with each change from now on, also
 * without a list, and before a reader can see the change. So it is never lower
 * than what a slave has.
 * @param at in the memory that outlives the process; NULL: in no memory that
 *           others see, as at first
 */
void store_changes_count_in(uint64_t *at);

/** The position of the last change. Any thread. */
uint64_t store_changes_position(void);

/** The position of the last change that this thread has added. */
uint64_t store_changes_mine(void);

/** The end of the list: what is added from now on is behind it. */
void store_changes_end(store_cursor_t *);

/**
 * Read some changes.
 * @param n in: room for that many; out: how many there were
 * @return 0; -1: this reader was overtaken, so changes are lost for it
 */
int store_changes_read(store_cursor_t *, store_change_t *, size_t *n);

/** How far a reader is behind. Any thread may ask.
 * @param ms age of the first change that it has not read; 0: there is none
 * @return how many changes it has not read */
uint64_t store_changes_lag(const store_cursor_t *, int64_t *ms);

/** A slave has the whole copy, and all changes up to this place. */
void store_changes_sent(const store_cursor_t *);

/** Changes that no slave has: they are lost if the master is. They are counted
 * from the first store_changes_open() or store_changes_close() on. */
uint64_t store_changes_unsent(void);

/**
 * A reader waits for changes. It looks at the list once more after this call,
 * and before it sleeps.
 * @param bell a nonblocking eventfd, which store_changes_ring() makes readable;
 *             -1: it waits no longer, and nobody uses its bell after this call.
 *             At most one bell a reader, 5 in all
 */
void store_changes_wait(unsigned reader, int bell);

/** Wake the readers that wait, if there is something. A worker calls this after
 * its turn, without a lock. */
void store_changes_ring(void);

#endif
