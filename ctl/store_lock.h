/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store_lock.h
 * @brief A lock in a space of the store. It is held as long as its connection.
 *
 * Two items belong to the lock NAME: apppool:once:NAME, which is locked, and
 * apppool:once:NAME:begun, which is there for some time after a run began.
 *
 * Errors: the reason was printed.
 * Trust:  the store may send any bytes, or a part of a line, or nothing. All
 *         its replies together have a time limit.
 */
#ifndef APPPOOL_CTL_STORE_LOCK_H
#define APPPOOL_CTL_STORE_LOCK_H

#include <stdint.h>

#define STORE_LOCK_NAME 64 /* bytes of a name at most */

typedef enum {
    STORE_LOCK_HELD,
    STORE_LOCK_TAKEN,  /**< another one holds it */
    STORE_LOCK_RECENT, /**< a run began a short time ago */
    STORE_LOCK_FAILED  /**< that was printed */
} store_lock_t;

/** May a lock have this name? */
int store_lock_is_name(const char *name);

/** Wait until the store has sent something.
 * @param until ms, of clock_ms(): not longer
 * @return 0: give up */
typedef int store_lock_wait_t(int fd, int64_t until);

/**
 * Take the lock.
 * @param every s; a run that began later than that prevents this one; 0: it
 *              does not matter
 * @param limit s for which a store that hangs may delay connect()
 * @param wait  for each reply
 * @param fd    HELD: the connection, to be closed by store_lock_release()
 */
store_lock_t store_lock_take(const char *dir, const char *space,
                             const char *name, unsigned every, int limit,
                             store_lock_wait_t *wait, int *fd);

/** Give it back. The reply is awaited, so the lock is free afterwards. Without
 * a reply, the end of the connection frees it. */
void store_lock_release(int fd, const char *name, store_lock_wait_t *wait);

#endif
