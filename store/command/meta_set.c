/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/command/meta_set.h"

#include <string.h>

#include "store/command/answer.h"
#include "store/command/copy.h"
#include "store/command/meta_flags.h"
#include "store/command/value.h"

/* @return false: there is no such mode */
static bool mode_of(const store_meta_flags_t *f, store_mode_t *mode)
{
    switch (f->mode) {
    case 0:
    case 'S':
        *mode = STORE_MODE_SET;
        break;
    case 'E':
        *mode = STORE_MODE_ADD;
        break;
    case 'A':
        *mode = STORE_MODE_APPEND;
        break;
    case 'P':
        *mode = STORE_MODE_PREPEND;
        break;
    case 'R':
        *mode = STORE_MODE_REPLACE;
        break;
    default:
        return false;
    }
    if (f->has_cas && (*mode == STORE_MODE_SET || *mode == STORE_MODE_REPLACE))
        *mode = STORE_MODE_CAS;
    return true;
}

/* What the answer has to return: the words O, k and c, in their order. */
static void remember(store_session_t *session, const store_meta_flags_t *f)
{
    size_t n = 0;

    for (unsigned i = f->first; i < f->tokens->n; i++) {
        store_token_t word = f->tokens->word[i];
        size_t take = word.at[0] == 'O' ? word.n : 1;

        if (!strchr("Okc", word.at[0]))
            continue;
        memcpy(session->flags + n, word.at, take);
        session->flags[n + take] = ' ';
        n += take + 1;
    }
    session->n_flags = (uint8_t)n;
}

/* @return what is wrong; NULL: the value is being read */
static const char *begin(store_session_t *session, const store_meta_flags_t *f,
                         uint32_t length)
{
    store_update_t update = {.cas = f->has_cas ? f->cas : 0};
    store_value_t rv;

    if (!mode_of(f, &update.mode))
        return "CLIENT_ERROR invalid mode for ms M token";
    if (f->long_opaque)
        return "CLIENT_ERROR opaque token too long";
    update.stale = f->stale && update.mode == STORE_MODE_CAS;
    remember(session, f);
    rv = store_value_begin(session, STORE_PROTOCOL_META, f->key, f->klen,
                           f->client_flags, f->exptime, length, &update);
    if (rv != STORE_VALUE_BEGUN) {
        store_verbs_drop(&session->caller, f->key, f->klen);
        return store_value_why(rv);
    }
    session->quiet_meta = f->quiet;
    if (f->binary_key)
        store_copy_mark(session->item, STORE_KEY_BINARY);
    return NULL;
}

void store_meta_set(store_session_t *session, const store_tokens_t *tokens,
                    store_reply_t *reply)
{
    store_meta_flags_t f;
    const char *wrong;
    int32_t length;

    if (!store_token_i32(tokens->word[2], &length) || length < 0 ||
        length > INT32_MAX - 2) {
        store_answer_error(reply, "CLIENT_ERROR bad command line format");
        return;
    }
    wrong = store_meta_flags_parse(&f, tokens, 3);
    if (wrong == NULL)
        wrong = begin(session, &f, (uint32_t)length);
    if (wrong == NULL)
        return;
    store_answer_error(reply, wrong);
    store_value_swallow(session, (uint64_t)length + 2);
}

static void add_flags(const store_session_t *session, store_meta_line_t *line,
                      uint64_t cas)
{
    const char *at = session->flags, *end = at + session->n_flags;
    store_token_t word = store_token_next(&at, end);

    for (; word.n > 0; word = store_token_next(&at, end)) {
        if (word.at[0] == 'O')
            store_meta_line_opaque(line, word);
        else if (word.at[0] == 'c')
            store_meta_line_number(line, 'c', cas);
        else
            store_meta_line_key(
                line, store_item_key(session->item), session->item->klen,
                STORE_GET(session->item->bits) & STORE_KEY_BINARY);
    }
}

void store_meta_set_stored(store_session_t *session, store_reply_t *reply)
{
    store_meta_line_t line = {.n = 0};
    store_result_t rv;
    uint64_t cas;

    if (!store_value_is_sound(session)) {
        store_count(session->caller.counters, STORE_SETS, 1);
        store_answer_error(reply, "CLIENT_ERROR bad data chunk");
        return;
    }
    rv = store_update(&session->caller, session->item, &session->update, &cas);
    if (rv == STORE_DONE && session->quiet_meta)
        return;
    store_meta_line_word(&line, rv == STORE_DONE        ? "HD"
                                : rv == STORE_EXISTS    ? "EX"
                                : rv == STORE_NOT_FOUND ? "NF"
                                                        : "NS");
    add_flags(session, &line, cas);
    store_meta_line_end(&line, reply);
}
