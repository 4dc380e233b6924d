/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file binary_request.h
 * @brief One request of the binary protocol, and the verbs that have files of
 *        their own.
 *
 * Lock, Trust: as in session.h.
 */
#ifndef APPPOOL_STORE_COMMAND_BINARY_REQUEST_H
#define APPPOOL_STORE_COMMAND_BINARY_REQUEST_H

#include "store/command/packet.h"

/** A request, and what came with its head. */
typedef struct {
    store_session_t *session;
    store_reply_t *reply;
    uint8_t opcode; /**< not quiet */
    const char *extras;
    const char *key;
    uint8_t klen;
    uint32_t value; /**< bytes that follow the key */
} store_request_t;

/** An update. Its value is read next, and then stored: store_binary_stored(). */
void store_binary_set(const store_request_t *, store_mode_t);

/** A replace of what this connection has locked, which unlocks it. */
void store_binary_replace_and_unlock(const store_request_t *);

/** Other requests of yrmcds. */
void store_binary_lock(const store_request_t *);
void store_binary_unlock(const store_request_t *);
void store_binary_unlock_all(const store_request_t *);
void store_binary_keys(const store_request_t *);

/** The response to a request that could not lock, or change, an item. */
void store_binary_locked(const store_session_t *, store_reply_t *,
                         store_result_t);

#endif
