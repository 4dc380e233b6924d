/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file meta_change.h
 * @brief The meta commands md and ma.
 *
 * Lock, Trust: as in session.h.
 */
#ifndef APPPOOL_STORE_COMMAND_META_CHANGE_H
#define APPPOOL_STORE_COMMAND_META_CHANGE_H

#include "store/command/session_state.h"
#include "store/command/token.h"

/** The number of words and the length of the key have been checked. */
void store_meta_change_delete(store_session_t *, const store_tokens_t *,
                              store_reply_t *);
void store_meta_change_number(store_session_t *, const store_tokens_t *,
                              store_reply_t *);

#endif
