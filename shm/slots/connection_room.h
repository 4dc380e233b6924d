/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file connection_room.h
 * @brief Has a process room for a new connection, or do the connections that
 *        are kept to it take all room?
 *
 * Some servers have a thread for each connection. The thread waits for the next
 * request on its connection. When all threads do so, none accepts a new
 * connection. A request that the process does not begin to read says so here.
 * Then all children of httpd close their idle connections to that process, and
 * keep none for ten seconds.
 *
 * A child sleeps while it has idle connections:
 *
 *     seen = apl_connection_room_read(pool);
 *     ... close those for which apl_connection_room_is_there() says no
 *     apl_connection_room_sleep(pool, seen, us);
 *
 * Crash: no word depends on another one.
 * Trust: the segment is hostile. A wrong word makes a child close connections,
 *        or keep idle ones for as long as it would without the word.
 */
#ifndef APPPOOL_SHM_SLOTS_CONNECTION_ROOM_H
#define APPPOOL_SHM_SLOTS_CONNECTION_ROOM_H

#include "shm/format/pool.h"

/** May a connection to this process be idle? Not if the process is gone or
 * ending, and not for ten seconds after apl_connection_room_ask().
 * @param id of the process @param now us of apl_now() */
int apl_connection_room_is_there(const apl_pool_t *pool, uint64_t id,
                                 int64_t now);

/** A request waits, and the process does not read it. This does nothing if a
 * child has said so within the last ten seconds. */
void apl_connection_room_ask(const apl_pool_t *pool, uint64_t id, int64_t now);

/** How many requests of this process have ended; 0: there is no such process.
 */
uint64_t apl_connection_room_ended(const apl_pool_t *pool, uint64_t id);

/** A connection to this process is idle from now on (1), or not idle any more
 * (-1). */
void apl_connection_room_count(const apl_pool_t *pool, uint64_t id, int change);

/** Is a connection to this process idle? A child that was killed with idle ones
 * makes this 1 for ever. */
int apl_connection_room_is_used(const apl_pool_t *pool, uint64_t id);

/** The word that apl_connection_room_ask() changes. */
uint32_t apl_connection_room_read(const apl_pool_t *pool);

/** Sleep for at most `us`, unless something was asked after `seen` was read. */
void apl_connection_room_sleep(const apl_pool_t *pool, uint32_t seen,
                               int64_t us);

#endif
