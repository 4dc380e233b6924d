/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file meta.h
 * @brief The meta commands: mg ms md ma mn me.
 */
#ifndef APPPOOL_STORE_PROTOCOL_META_H
#define APPPOOL_STORE_PROTOCOL_META_H

#include "store/protocol/dialogue_state.h"
#include "store/protocol/token.h"

/** A line whose first word has two letters, the first one an m. */
void store_meta_line(store_dialogue_t *, const store_tokens_t *,
                     store_reply_t *);

/** The value of ms has arrived. */
void store_meta_stored(store_dialogue_t *, store_reply_t *);

#endif
