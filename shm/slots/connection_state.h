/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file connection_state.h
 * @brief The state of the shared connection of a process: the one connection
 *        that all children of httpd use, one after the other.
 *
 * A process that takes one request at a time keeps one connection. While no
 * request uses the connection, it is parked (base/parking.h). The
 * slot says whether the child that gets the process may use what is parked:
 *
 *     NONE  nothing is parked
 *     IDLE  one is parked, and no request uses it
 *     BUSY  one may be parked, and a request uses it
 *
 *     NONE -> BUSY -> IDLE    the connection of a request is parked
 *     IDLE -> BUSY -> IDLE    another request uses it
 *     IDLE, BUSY -> NONE      it was cut
 *
 * Each connection of a process has a serial number, so a child knows whether a
 * copy that it has kept is a copy of what is parked. No serial is 0.
 *
 * Only the child that has the one session of the process may change the state.
 * So BUSY, seen by such a child, means that the last one died inside a request:
 * the slot says which child that was. The connection is cut, and the request
 * makes a new one. If that child lives, its session was taken back after damage
 * (roll call), and its request continues. The word also names the generation of
 * the slot, and each change compares and exchanges the whole word. So a child
 * that comes late cannot change what belongs to the next process in the slot.
 *
 * Lock:  none. If a second session is granted later, it does not touch the
 *        connection, except that it cuts an idle one.
 * Crash: a process is killed between any two stores: BUSY stays, and the next
 *        request cuts. Repair has nothing to do.
 * Trust: the segment is hostile. A wrong word causes only this: a connection is
 *        cut, or a copy is looked for and not found.
 */
#ifndef APPPOOL_SHM_SLOTS_CONNECTION_STATE_H
#define APPPOOL_SHM_SLOTS_CONNECTION_STATE_H

#include "shm/slots/session.h"

enum {
    APL_CONNECTION_NONE,
    APL_CONNECTION_IDLE,
    APL_CONNECTION_BUSY,
    APL_CONNECTION_STATES,
    /** apl_connection_take(): it is another session's. */
    APL_CONNECTION_NOT_OURS = APL_CONNECTION_STATES
};

/** us: the app may be about to close a connection that is idle for longer. */
#define APL_CONNECTION_IDLE_LIMIT 1000000

/** The connection of the process of a session. */
typedef struct {
    const apl_pool_t *pool;
    const apl_session_ref_t *ref;
    apl_process_t *process; /**< NULL: there is none, or it is gone */
    uint32_t generation;    /**< of its slot */
    uint32_t serial;        /**< of the connection that the request uses */
} apl_connection_state_t;

/** The connection of the process that a session has. @param ref has to live as
 * long as what is returned */
apl_connection_state_t apl_connection_state(const apl_pool_t *pool,
                                            const apl_session_ref_t *ref);

/** May the request of this session share the connection? Yes, if the process is
 * live, takes one request at a time, and has no other session. */
int apl_connection_is_alone(const apl_connection_state_t *c);

/**
 * A request of a session is about to begin: take what is parked.
 * @param alone     what apl_connection_is_alone() said for this session
 * @param may_reuse 0: the request has to have a new connection
 * @return APL_CONNECTION_NONE: nothing is parked; APL_CONNECTION_IDLE: the
 *         request may use what is parked, and the state is BUSY now;
 *         APL_CONNECTION_BUSY: what is parked has to be cut, and then
 *         apl_connection_forget() called; APL_CONNECTION_NOT_OURS
 */
uint32_t apl_connection_take(apl_connection_state_t *c, int alone,
                             int may_reuse, int64_t now);

/** Is the connection that is parked still this session's? */
int apl_connection_is_held(const apl_connection_state_t *c);

/** Has the process ended, and has another one got its slot? Then no session has
 * taken the connection away. */
int apl_connection_is_gone(const apl_connection_state_t *c);

/** What was parked is cut. */
void apl_connection_forget(const apl_connection_state_t *c);

/** A new connection is about to be parked: it gets a serial, and the state is
 * BUSY. @return 0: it may not be */
int apl_connection_begin_parking(apl_connection_state_t *c);

/**
 * The request has ended, and its connection is parked: it may be used again.
 * @return 0: it may not, as this session is not alone any more, or the process
 *         is ending. It has to be cut, and then apl_connection_forget() called
 */
int apl_connection_release(const apl_connection_state_t *c, int64_t now);

/** Is a connection of this process parked that no child uses, because it is
 * idle or its child was killed? For the spawner.
 * @param word identifies this connection and state */
int apl_connection_is_unused(const apl_pool_t *pool, uint64_t id,
                             uint64_t *word);

/** Did the last child die within its request? @param word of
 * apl_connection_is_unused() */
int apl_connection_is_left(uint64_t word);

/** May this file have written that state and that serial? For a check. */
int apl_connection_is_valid(const apl_process_t *process);

#endif
