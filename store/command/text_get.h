/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file text_get.h
 * @brief get, gets, gat and gats: any number of keys in one line.
 *
 * When much waits to be sent, the other keys of the line are served later. All
 * are checked before the first one is served.
 *
 * Lock, Trust: as in session.h.
 */
#ifndef APPPOOL_STORE_COMMAND_TEXT_GET_H
#define APPPOOL_STORE_COMMAND_TEXT_GET_H

#include "store/command/session_state.h"
#include "store/command/token.h"

/**
 * Serve the command, or begin to.
 * @param name the first word of the line
 * @param rest what follows it, to `end`
 * @param used bytes of the rest
 * @return false: it is another command
 */
bool store_text_get(store_session_t *, store_token_t name, const char *rest,
                    const char *end, store_reply_t *, size_t *used);

/** Go on with a line. @return bytes that were used */
size_t store_text_get_more(store_session_t *, const char *line, size_t n,
                           store_reply_t *);

#endif
