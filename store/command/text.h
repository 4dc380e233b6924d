/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file text.h
 * @brief A line of memcached's text protocol.
 *
 * Lock, Trust: as in session.h.
 */
#ifndef APPPOOL_STORE_COMMAND_TEXT_H
#define APPPOOL_STORE_COMMAND_TEXT_H

#include "store/command/session_state.h"

/**
 * Serve a line, or begin to.
 * @param n without the end of the line
 * @return bytes of it that were used, if the phase is STORE_PHASE_GET now; else
 *         it is used completely
 */
size_t store_text_line(store_session_t *, const char *line, size_t n,
                       store_reply_t *);

#endif
