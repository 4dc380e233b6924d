/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/command/text_set.h"

#include "store/clock.h"
#include "store/command/answer.h"
#include "store/command/value.h"

/* The words of the line. */
typedef struct {
    uint32_t flags;
    int32_t exptime, length;
    store_update_t update;
} line_t;

static bool parse(line_t *line, const store_token_t *word)
{
    return word[1].n <= STORE_KEY_MAX &&
           store_token_u32(word[2], &line->flags) &&
           store_token_i32(word[3], &line->exptime) &&
           store_token_i32(word[4], &line->length) &&
           (line->update.mode != STORE_MODE_CAS ||
            store_token_u64(word[5], &line->update.cas)) &&
           line->length >= 0 && line->length <= INT32_MAX - 2;
}

void store_text_set(store_session_t *session, const store_tokens_t *tokens,
                    store_reply_t *reply, store_mode_t mode)
{
    const store_token_t *word = tokens->word;
    line_t line = {.update = {.mode = mode}};
    store_value_t rv;

    session->quiet = store_token_is(word[tokens->n - 1], "noreply");
    if (!parse(&line, word)) {
        store_answer(session, reply, "CLIENT_ERROR bad command line format");
        return;
    }
    rv = store_value_begin(session, STORE_PROTOCOL_TEXT, word[1].at,
                           (uint8_t)word[1].n, line.flags,
                           store_clock_exptime(line.exptime),
                           (uint32_t)line.length, &line.update);
    if (rv == STORE_VALUE_BEGUN)
        return;
    store_answer(session, reply, store_value_why(rv));
    if (mode == STORE_MODE_SET)
        store_verbs_drop(&session->caller, word[1].at, (uint8_t)word[1].n);
}

void store_text_set_stored(store_session_t *session, store_reply_t *reply)
{
    const char *answer = "STORED";
    uint64_t cas;

    if (!store_value_is_sound(session)) {
        store_count(session->caller.counters, STORE_SETS, 1);
        store_answer(session, reply, "CLIENT_ERROR bad data chunk");
        return;
    }
    switch (
        store_update(&session->caller, session->item, &session->update, &cas)) {
    case STORE_DONE:
        break;
    case STORE_EXISTS:
        answer = "EXISTS";
        break;
    case STORE_NOT_FOUND:
        answer = "NOT_FOUND";
        break;
    case STORE_LOCKED_OUT:
        answer = "LOCKED";
        break;
    default:
        answer = "NOT_STORED";
        break;
    }
    store_answer(session, reply, answer);
}
