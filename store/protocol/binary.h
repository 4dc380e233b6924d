/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file binary.h
 * @brief Requests of memcached's binary protocol.
 */
#ifndef APPPOOL_STORE_PROTOCOL_BINARY_H
#define APPPOOL_STORE_PROTOCOL_BINARY_H

#include "store/protocol/dialogue_state.h"

/**
 * Serve a request, or begin to.
 * @return bytes that were used; 0: its head, extras and key are not complete
 */
size_t store_binary_input(store_dialogue_t *, const char *bytes, size_t n,
                          store_reply_t *);

/** The value has arrived. */
void store_binary_stored(store_dialogue_t *, store_reply_t *);

#endif
