/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file meta_set.h
 * @brief The meta command ms.
 *
 * Lock, Trust: as in session.h.
 */
#ifndef APPPOOL_STORE_COMMAND_META_SET_H
#define APPPOOL_STORE_COMMAND_META_SET_H

#include "store/command/session_state.h"
#include "store/command/token.h"

/** Begin. The number of words and the length of the key have been checked. */
void store_meta_set(store_session_t *, const store_tokens_t *, store_reply_t *);

/** The value has arrived. */
void store_meta_set_stored(store_session_t *, store_reply_t *);

#endif
