/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file counter_gone.h
 * @brief An answer for clients of yrmcds' counters, which the store has not.
 *
 *     request:  0x90 | opcode | flags 0  | 0 | length 4 | opaque 4 | body
 *     response: 0x91 | opcode | status   | 0 | length 4 | opaque 4 | body
 *
 * Lock, Trust: as in session.h.
 */
#ifndef APPPOOL_STORE_COMMAND_COUNTER_GONE_H
#define APPPOOL_STORE_COMMAND_COUNTER_GONE_H

#include "store/command/session_state.h"

#define STORE_COUNTER_MAGIC 0x90

/** Answer the first request with an error that says so, and end the session.
 * @return bytes that were used; 0: its head is not complete */
size_t store_counter_gone_input(store_session_t *, const char *bytes, size_t n,
                                store_reply_t *);

#endif
