/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file answer.h
 * @brief One line of text, with CR LF, into the reply.
 *
 * Lock:  none.
 */
#ifndef APPPOOL_STORE_COMMAND_ANSWER_H
#define APPPOOL_STORE_COMMAND_ANSWER_H

#include "store/command/session_state.h"

/** The line, unless the command is quiet. */
void store_answer(const store_session_t *, store_reply_t *, const char *line);

/** The line in any case: an error, which a quiet command reports as well. */
void store_answer_error(store_reply_t *, const char *line);

#endif
