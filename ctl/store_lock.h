/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store_lock.h
 * @brief A lock in a space of the store. It is held as long as its connection.
 *
 * Two items belong to the lock NAME: apppool:once:NAME, which is locked, and
 * apppool:once:NAME:begun, which is there for some time after a run began.
 *
 * Errors: an exit status; the reason was printed.
 */
#ifndef APPPOOL_CTL_STORE_LOCK_H
#define APPPOOL_CTL_STORE_LOCK_H

#include <stdio.h>

#define STORE_LOCK_NAME 64 /* bytes of a name at most */

typedef enum {
    STORE_LOCK_HELD,
    STORE_LOCK_TAKEN,  /**< another one holds it */
    STORE_LOCK_RECENT, /**< a run began a short time ago */
    STORE_LOCK_FAILED  /**< that was printed */
} store_lock_t;

/** May a lock have this name? */
int store_lock_is_name(const char *name);

/**
 * Take the lock.
 * @param every  s; a run that began later than that prevents this one; 0: it
 *               does not matter
 * @param stream HELD: the connection, to be closed by store_lock_release()
 */
store_lock_t store_lock_take(const char *dir, const char *space,
                             const char *name, unsigned every, FILE **stream);

/** Give it back. NULL: nothing. */
void store_lock_release(FILE *stream, const char *name);

#endif
