/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file text_set.h
 * @brief set, add, replace, append, prepend and cas of the text protocol.
 *
 * Lock, Trust: as in session.h.
 */
#ifndef APPPOOL_STORE_COMMAND_TEXT_SET_H
#define APPPOOL_STORE_COMMAND_TEXT_SET_H

#include "store/command/session_state.h"
#include "store/command/token.h"

/** Begin. The number of words has been checked. */
void store_text_set(store_session_t *, const store_tokens_t *, store_reply_t *,
                    store_mode_t);

/** The value has arrived. */
void store_text_set_stored(store_session_t *, store_reply_t *);

#endif
