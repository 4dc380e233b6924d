/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file counter_wire.h
 * @brief The protocol of yrmcds' counters.
 *
 *     request:  0x90 | opcode | flags 0  | 0 | length 4 | opaque 4 | body
 *     response: 0x91 | opcode | status   | 0 | length 4 | opaque 4 | body
 *
 *     00 Noop     -
 *     01 Get      n 2 | name                                consumption 4
 *     02 Acquire  resources 4 | maximum 4 | n 2 | name      resources 4
 *     03 Release  resources 4 | n 2 | name                  -
 *     10 Stats    -              (n 2 | m 2 | name | value) ...
 *     11 Dump     -              a response for each counter, and an empty one:
 *                                consumption 4 | most of this day 4 | n 2 | name
 *
 * Numbers are those of the network. The body of an error is text.
 *
 * Lock, Trust: as in session.h. A request that no opcode can have is answered
 *        with an error, and ends the connection.
 */
#ifndef APPPOOL_STORE_COMMAND_COUNTER_WIRE_H
#define APPPOOL_STORE_COMMAND_COUNTER_WIRE_H

#include "store/command/session_state.h"

#define STORE_COUNTER_MAGIC    0x90
#define STORE_COUNTER_RESPONSE 0x91
#define STORE_COUNTER_HEAD     12 /**< bytes */

/** Bytes of the longest request: Acquire, with the longest name. */
#define STORE_COUNTER_REQUEST  (STORE_COUNTER_HEAD + 10 + 65535)

/** Serve a request.
 * @return bytes that were used; 0: it is not complete, or the session is over */
size_t store_counter_wire_input(store_session_t *, const char *bytes, size_t n,
                                store_reply_t *);

/** The next slice of a Dump. After the last one, the phase is
 * STORE_PHASE_COMMAND. */
void store_counter_wire_dump(store_session_t *, store_reply_t *);

/** The connection ends: release all that it holds. */
void store_counter_wire_end(store_session_t *);

#endif
