/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file text.h
 * @brief memcached's text protocol, without the meta commands.
 */
#ifndef APPPOOL_STORE_PROTOCOL_TEXT_H
#define APPPOOL_STORE_PROTOCOL_TEXT_H

#include "store/protocol/dialogue_state.h"

/**
 * Serve a line, or begin to.
 * @param n without the end of the line
 * @return bytes of it that were used, if the phase is STORE_PHASE_GET now; else
 *         it is used completely
 */
size_t store_text_line(store_dialogue_t *, const char *line, size_t n,
                       store_reply_t *);

/** Go on with a line that gets many keys. @return bytes that were used */
size_t store_text_get_more(store_dialogue_t *, const char *line, size_t n,
                           store_reply_t *);

/** The value of a command that stores has arrived. */
void store_text_stored(store_dialogue_t *, store_reply_t *);

#endif
