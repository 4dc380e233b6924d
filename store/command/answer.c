/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/command/answer.h"

#include <string.h>

void store_answer_error(store_reply_t *reply, const char *line)
{
    store_reply_copy(reply, line, strlen(line));
    store_reply_copy(reply, "\r\n", 2);
}

void store_answer(const store_session_t *session, store_reply_t *reply,
                  const char *line)
{
    if (!session->quiet)
        store_answer_error(reply, line);
}
