/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/command/meta_change.h"

#include <inttypes.h>
#include <stdio.h>

#include "store/command/answer.h"
#include "store/command/delta.h"
#include "store/command/meta_flags.h"

#define LONG_OPAQUE "CLIENT_ERROR opaque token too long"

/* @return false: an error was answered */
static bool parse(store_meta_flags_t *f, const store_tokens_t *tokens,
                  store_reply_t *reply)
{
    if (store_meta_flags_parse(f, tokens, 2) == NULL)
        return true;
    store_answer_error(reply, "CLIENT_ERROR invalid or duplicate flag");
    return false;
}

static void answer(const store_meta_flags_t *f, const char *word,
                   store_reply_t *reply)
{
    store_meta_line_t line = {.n = 0};

    store_meta_line_word(&line, word);
    store_meta_line_repeat(&line, f);
    store_meta_line_end(&line, reply);
}

void store_meta_change_delete(store_session_t *session,
                              const store_tokens_t *tokens,
                              store_reply_t *reply)
{
    store_meta_flags_t f;
    store_delete_t how;

    if (!parse(&f, tokens, reply))
        return;
    if (f.long_opaque) {
        store_answer_error(reply, LONG_OPAQUE);
        return;
    }
    how = (store_delete_t){.cas = f.cas,
                           .has_cas = f.has_cas,
                           .stale = f.stale,
                           .touch = f.touch,
                           .exptime = f.exptime};
    switch (store_verbs_delete(&session->caller, f.key, f.klen, &how)) {
    case STORE_DONE:
        if (!f.quiet)
            answer(&f, "HD", reply);
        break;
    case STORE_EXISTS:
        answer(&f, "EX", reply);
        break;
    case STORE_NOT_FOUND:
        answer(&f, "NF", reply);
        break;
    case STORE_LOCKED_OUT:
        answer(&f, "NS", reply);
        break;
    default:
        store_answer_error(reply, "SERVER_ERROR out of memory");
        break;
    }
}

/* ---- ma ---- */

static void answer_number(const store_meta_flags_t *f, const store_delta_t *d,
                          bool created, store_reply_t *reply)
{
    store_meta_line_t line = {.n = 0};
    char digits[STORE_DIGITS];
    int n = snprintf(digits, sizeof digits, "%" PRIu64, d->value);

    store_meta_line_word(&line, f->value ? "VA " : "HD");
    if (f->value)
        store_meta_line_digits(&line, (uint64_t)n);
    for (unsigned i = f->first; i < f->tokens->n; i++) {
        store_token_t word = f->tokens->word[i];

        if (word.at[0] == 'c')
            store_meta_line_number(&line, 'c', d->new_cas);
        else if (word.at[0] == 't')
            store_meta_line_ttl(
                &line, store_meta_flags_exptime(f, 't', d->before, created));
        else if (word.at[0] == 'O')
            store_meta_line_opaque(&line, word);
        else if (word.at[0] == 'k')
            store_meta_line_key(&line, f->key, f->klen, f->binary_key);
    }
    if (f->value) {
        store_meta_line_word(&line, "\r\n");
        store_meta_line_word(&line, digits);
    }
    store_meta_line_end(&line, reply);
}

/* An opaque that is too long is found when the answer is made. */
static void answer_result(const store_meta_flags_t *f, const store_delta_t *d,
                          store_result_t rv, store_reply_t *reply)
{
    if (rv == STORE_NOT_NUMERIC)
        store_answer_error(reply, "CLIENT_ERROR cannot increment or decrement "
                                  "non-numeric value");
    else if (rv == STORE_NO_MEMORY)
        store_answer_error(reply, "SERVER_ERROR out of memory");
    else if (f->long_opaque)
        store_answer_error(reply, LONG_OPAQUE);
    else if (rv == STORE_NOT_FOUND)
        answer(f, "NF", reply);
    else if (rv == STORE_EXISTS)
        answer(f, "EX", reply);
    else if (rv == STORE_LOCKED_OUT)
        answer(f, "NS", reply);
    else if (!f->quiet || rv == STORE_CREATED)
        answer_number(f, d, rv == STORE_CREATED, reply);
}

/* @return false: there is no such mode */
static bool how_to_count(const store_meta_flags_t *f, store_delta_t *d)
{
    *d = (store_delta_t){.decrement = f->mode == 'D' || f->mode == '-',
                         .delta = f->delta,
                         .cas = f->cas,
                         .vivify = f->vivify,
                         .initial = f->initial,
                         .vivify_exptime =
                             store_meta_flags_exptime(f, 0, 0, true),
                         .binary_key = f->unsafe_key,
                         .touch = f->touch,
                         .exptime = f->exptime};
    if (f->long_opaque) { /* flags behind it have no effect */
        d->touch =
            store_meta_flags_exptime(f, 'O', UINT32_MAX, false) != UINT32_MAX;
        d->vivify_exptime = store_meta_flags_exptime(f, 'O', 0, true);
    }
    return d->decrement || f->mode == 0 || f->mode == 'I' || f->mode == '+';
}

void store_meta_change_number(store_session_t *session,
                              const store_tokens_t *tokens,
                              store_reply_t *reply)
{
    store_meta_flags_t f;
    store_delta_t d;
    store_result_t rv;

    if (!parse(&f, tokens, reply))
        return;
    if (!how_to_count(&f, &d)) {
        store_answer_error(reply, "CLIENT_ERROR invalid mode for ma M token");
        return;
    }
    rv = store_delta_apply(&session->caller, f.key, f.klen, &d);
    answer_result(&f, &d, rv, reply);
}
