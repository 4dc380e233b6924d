/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file value.h
 * @brief Reads the value of a command that stores, into its item.
 *
 * Lock:  none; store_value_begin() may evict.
 */
#ifndef APPPOOL_STORE_COMMAND_VALUE_H
#define APPPOOL_STORE_COMMAND_VALUE_H

#include "store/command/session_state.h"

/** Why there is no item for a value. */
typedef enum {
    STORE_VALUE_BEGUN,
    STORE_VALUE_TOO_LARGE,
    STORE_VALUE_TOO_MANY, /**< large ones are being sent */
    STORE_VALUE_NO_MEMORY
} store_value_t;

/**
 * Make the item. If that fails, the bytes of the value are dropped when they
 * arrive, and the failure is counted.
 * @param asked  the protocol: CR LF follows a text or meta value
 * @param update as it is to be stored later
 */
store_value_t store_value_begin(store_session_t *, store_protocol_t asked,
                                const void *key, uint8_t klen, uint32_t flags,
                                uint32_t exptime, uint64_t length,
                                const store_update_t *update);

/** What a client of the text protocol is told. */
const char *store_value_why(store_value_t);

/** The next n bytes are not looked at. */
void store_value_swallow(store_session_t *, uint64_t n);

/** Use bytes of what has arrived. @return how many */
size_t store_value_input(store_session_t *, const char *bytes, size_t n);

/** Has the value, and in text what follows it, arrived? */
bool store_value_is_complete(const store_session_t *);

/** In text: was it followed by CR LF? */
bool store_value_is_sound(const store_session_t *);

/** Give the item back. The next bytes are a command. */
void store_value_end(store_session_t *);

#endif
