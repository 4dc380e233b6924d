/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file text_other.h
 * @brief Commands of memcached's own administration. What would change the
 *        store is answered as memcached answers when it is disabled there.
 *
 * Lock, Trust: as in session.h.
 */
#ifndef APPPOOL_STORE_COMMAND_TEXT_OTHER_H
#define APPPOOL_STORE_COMMAND_TEXT_OTHER_H

#include <stdbool.h>

#include "store/command/session_state.h"
#include "store/command/token.h"

/** @return false: it is no such command */
bool store_text_other(store_session_t *, const store_tokens_t *,
                      store_reply_t *);

#endif
