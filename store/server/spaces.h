/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file spaces.h
 * @brief The spaces of the table, which this store serves: memory, socket,
 *        users, connections.
 *
 * A space that is gone from the table loses its socket and its connections at
 * once. Its items stay for an hour, because a mistake in the configuration must
 * not cost all sessions.
 *
 * Each second there is something to do: flushes with a delay, the end of spaces
 * that are gone for an hour, lines about full spaces.
 *
 * Lock:  the main thread. Other threads read `next`, `space` and `gone`,
 *        and count `connections` down. store_spaces_admits() takes a lock of
 *        its own.
 * Crash: the next store reads the table and the directory of the memfd again. A
 *        space that is being forgotten may have an entry and no items. The next
 *        store forgets it again.
 */
#ifndef APPPOOL_STORE_SERVER_SPACES_H
#define APPPOOL_STORE_SERVER_SPACES_H

#include <stdint.h>

#include "store/memory/space.h"
#include "store/server/store_config.h"

#define STORE_SPACES_PATH 108 /* of a socket, NUL included */

typedef struct store_served {
    struct store_served *next; /**< atomic; new ones are at the end */
    store_space_t *space;
    store_config_space_t options; /**< owns its `uids` */
    char path[STORE_SPACES_PATH];
    int listener;         /**< -1: none */
    uint32_t connections; /**< atomic */
    uint32_t locked; /**< atomic: clients without login (waiting_clients.h) */
    int gone;        /**< atomic: its connections are to be closed */
    int64_t refused_at;          /**< ms: when a refusal was logged; 0: never */
    int64_t full_at;             /**< ms: when too many connections were */
    int64_t limit_at;            /**< ms: when its limit of memory was */
    uint64_t evictions, refused; /**< items, at the last tick */
    int64_t confirm_at; /**< ms: when the next two were logged; 0: never */
    uint64_t unconfirmed, not_confirmed; /**< writes, of figures.h */
} store_served_t;

/** What the server does with listeners. */
typedef struct {
    const char *directory;             /**< of the sockets; absolute */
    int (*watch)(store_served_t *);    /**< accept at its listener */
    void (*unwatch)(store_served_t *); /**< no more */
} store_spaces_hooks_t;

/** Call this once. The hooks must stay. */
void store_spaces_begin(const store_spaces_hooks_t *);

/**
 * Serve the spaces of the table, and no others. What fails is logged, and the
 * next call tries it again.
 * @param t the spaces' users are taken out of it
 * @return 1: connections have to be closed (worker.h)
 */
int store_spaces_apply(store_config_t *t);

/** Once a second. @param now ms */
void store_spaces_tick(int64_t now);

/** Do a part of what a larger size of a space needs (store/memory/space.h). In
 * each turn. @return 1: there is more to do */
int store_spaces_grow(void);

/** The one of this name, which may be gone; NULL: none. */
store_served_t *store_spaces_find(const char *name);

/** All that are or were served. Any thread, while none is forgotten: with a
 * cluster none is. */
store_served_t *store_spaces_list(void);

/** The memory of one of them, also of one that is gone, by its number; NULL:
 * there are no more. While none is forgotten, each keeps its number. */
store_space_t *store_spaces_nth(unsigned n);

/** Another number each time after a space has come, or has come back. Any
 * thread. */
unsigned store_spaces_generation(void);

/** Close a space that is gone and has no connections, and free it. Its items
 * stay in the memfd. */
void store_spaces_forget(store_served_t *);

/** May this user use the space? Any thread. */
int store_spaces_admits(const store_served_t *, uid_t);

/** The end: close all listeners, also the copies in the mailbox. */
void store_spaces_stop(void);

/** The workers have ended: what was not logged yet. */
void store_spaces_end(void);

/** A connection was accepted, or has ended. Any thread. */
void store_spaces_count(store_served_t *, int change);

#endif
