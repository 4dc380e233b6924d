/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/protocol/protocols.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "store/clock.h"
#include "store/memory/chunk.h"
#include "store/protocol/delta.h"
#include "store/protocol/dialogue_state.h"
#include "store/protocol/meta_flags.h"
#include "store/protocol/verbs.h"

#define BAD_LINE    "CLIENT_ERROR bad command line format"
#define LONG_OPAQUE "CLIENT_ERROR opaque token too long"

/* ---- mg ---- */
static void add_flag(store_meta_line_t *line, store_token_t word,
                     const store_meta_flags_t *f, const store_fetch_t *fetch,
                     const store_item_t *item)
{
    switch (word.at[0]) {
    case 's':
        store_meta_line_number(line, 's', item->length);
        break;
    case 't':
        store_meta_line_ttl(line, store_meta_flags_exptime(
                                      f, 't', fetch->before, fetch->created));
        break;
    case 'c':
        store_meta_line_number(line, 'c', item->cas);
        break;
    case 'f':
        store_meta_line_number(line, 'f', item->flags);
        break;
    case 'l':
        store_meta_line_number(line, 'l', store_clock() - fetch->used);
        break;
    case 'h':
        store_meta_line_number(line, 'h', fetch->bits & STORE_FETCHED ? 1 : 0);
        break;
    case 'O':
        store_meta_line_opaque(line, word);
        break;
    case 'k':
        store_meta_line_key(line, store_item_key(item), item->klen,
                            fetch->bits & STORE_KEY_BINARY);
        break;
    default:
        break;
    }
}

static void found(store_dialogue_t *dialogue, const store_meta_flags_t *f,
                  const store_fetch_t *fetch, store_item_t *item,
                  store_reply_t *reply)
{
    store_meta_line_t line = {.n = 0};
    unsigned i;

    store_meta_line_word(&line, f->value ? "VA " : "HD");
    if (f->value)
        store_meta_line_digits(&line, item->length);
    for (i = f->first; i < f->tokens->n; i++)
        add_flag(&line, f->tokens->word[i], f, fetch, item);
    if (fetch->bits & STORE_TOKEN_SENT)
        store_meta_line_word(&line, " Z");
    if (fetch->bits & STORE_STALE)
        store_meta_line_word(&line, " X");
    if (fetch->won)
        store_meta_line_word(&line, " W");
    store_meta_line_end(&line, reply);
    if (f->value) {
        store_reply_value(reply, dialogue->caller.space, item);
        store_reply_copy(reply, "\r\n", 2);
    }
}

static store_fetch_t how_to_fetch(const store_meta_flags_t *f)
{
    return (store_fetch_t){
        .touch = f->touch,
        .exptime = f->exptime,
        .vivify = f->vivify,
        .vivify_exptime = store_meta_flags_exptime(f, 0, 0, 1),
        .binary_key = f->unsafe_key,
        .recache = f->recache,
        .recache_time = f->recache_time,
        .recache_last =
            store_meta_flags_exptime(f, 'R', UINT32_MAX, 0) != UINT32_MAX,
        .win_stale = 1,
        .no_update = !f->update};
}

/* memcached finds an opaque that is too long when it makes the answer. By then
 * the flags before it have had their effect. With flags that look at the last
 * access, memcached notes the access after the answer only. */
static void refuse_opaque(store_dialogue_t *dialogue,
                          const store_meta_flags_t *f, store_reply_t *reply)
{
    uint32_t exptime = store_meta_flags_exptime(f, 'O', UINT32_MAX, 0);
    store_fetch_t fetch = how_to_fetch(f);
    store_item_t *item;

    fetch.touch = exptime != UINT32_MAX;
    fetch.vivify_exptime = store_meta_flags_exptime(f, 'O', 0, 1);
    fetch.recache = fetch.win_stale = 0;
    fetch.no_win = 1;
    if (f->vivify || f->touch || f->recache || store_meta_flags_has(f, 'l') ||
        store_meta_flags_has(f, 'h'))
        fetch.no_update = 1;
    item = store_verbs_fetch(&dialogue->caller, f->key, f->klen, &fetch);
    if (item)
        store_item_release(dialogue->caller.space, item);
    store_answer_error(reply, LONG_OPAQUE);
}

static void fetch_item(store_dialogue_t *dialogue, const store_meta_flags_t *f,
                       store_reply_t *reply)
{
    store_meta_line_t line = {.n = 0};
    store_fetch_t fetch = how_to_fetch(f);
    store_item_t *item =
        store_verbs_fetch(&dialogue->caller, f->key, f->klen, &fetch);

    if (item) {
        found(dialogue, f, &fetch, item, reply);
        store_item_release(dialogue->caller.space, item);
    }
    else if (fetch.overflow)
        store_answer_error(reply,
                           "SERVER_ERROR refcount overflow during fetch");
    else if (!f->quiet) {
        store_meta_line_word(&line, "EN");
        store_meta_line_repeat(&line, f);
        store_meta_line_end(&line, reply);
    }
}

static void fetch_meta(store_dialogue_t *dialogue, const store_tokens_t *tokens,
                       store_reply_t *reply)
{
    store_meta_flags_t f;
    const char *wrong = store_meta_flags_parse(&f, tokens, 2);

    if (wrong)
        store_answer_error(reply, wrong);
    else if ((f.touch || f.vivify) && !store_writes_begin(dialogue))
        store_writes_refuse(dialogue, reply);
    else if (f.long_opaque)
        refuse_opaque(dialogue, &f, reply);
    else
        fetch_item(dialogue, &f, reply);
}

/* ---- ms ---- */

/* @return 0: there is no such mode */
static int mode_of(const store_meta_flags_t *f, store_mode_t *mode)
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
        return 0;
    }
    if (f->has_cas && (*mode == STORE_MODE_SET || *mode == STORE_MODE_REPLACE))
        *mode = STORE_MODE_CAS;
    return 1;
}

/* What the answer has to return: the words O, k and c, in their order. */
static void remember(store_dialogue_t *dialogue, const store_meta_flags_t *f)
{
    size_t n = 0;
    unsigned i;

    for (i = f->first; i < f->tokens->n; i++) {
        store_token_t word = f->tokens->word[i];
        size_t take = word.at[0] == 'O' ? word.n : 1;

        if (!strchr("Okc", word.at[0]))
            continue;
        memcpy(dialogue->flags + n, word.at, take);
        dialogue->flags[n + take] = ' ';
        n += take + 1;
    }
    dialogue->n_flags = (uint8_t)n;
}

/* @return what is wrong; NULL: the value is being read */
static const char *begin(store_dialogue_t *dialogue,
                         const store_meta_flags_t *f, uint32_t length)
{
    store_update_t update = {.cas = f->has_cas ? f->cas : 0};
    store_value_t rv;

    if (!mode_of(f, &update.mode))
        return "CLIENT_ERROR invalid mode for ms M token";
    if (f->long_opaque)
        return LONG_OPAQUE;
    update.stale = f->stale && update.mode == STORE_MODE_CAS;
    remember(dialogue, f);
    rv = store_value_begin(dialogue, STORE_PROTOCOL_META, f->key, f->klen,
                           f->client_flags, f->exptime, length, &update);
    if (rv != STORE_VALUE_BEGUN) {
        store_verbs_drop(&dialogue->caller, f->key, f->klen);
        return store_value_why(rv);
    }
    dialogue->quiet_meta = f->quiet;
    if (f->binary_key)
        store_copy_mark(dialogue->item, STORE_KEY_BINARY);
    return NULL;
}

static void set_meta(store_dialogue_t *dialogue, const store_tokens_t *tokens,
                     store_reply_t *reply)
{
    store_meta_flags_t f;
    const char *wrong;
    int32_t length;

    if (!store_token_i32(tokens->word[2], &length) || length < 0 ||
        length > INT32_MAX - 2) {
        store_answer_error(reply, BAD_LINE);
        return;
    }
    wrong = store_meta_flags_parse(&f, tokens, 3);
    if (!wrong)
        wrong = begin(dialogue, &f, (uint32_t)length);
    if (!wrong)
        return;
    store_answer_error(reply, wrong);
    store_value_swallow(dialogue, (uint64_t)length + 2);
}

static void add_remembered(const store_dialogue_t *dialogue,
                           store_meta_line_t *line, uint64_t cas)
{
    const char *at = dialogue->flags, *end = at + dialogue->n_flags;
    store_token_t word = store_token_next(&at, end);

    for (; word.n > 0; word = store_token_next(&at, end)) {
        if (word.at[0] == 'O')
            store_meta_line_opaque(line, word);
        else if (word.at[0] == 'c')
            store_meta_line_number(line, 'c', cas);
        else
            store_meta_line_key(
                line, store_item_key(dialogue->item), dialogue->item->klen,
                STORE_GET(dialogue->item->bits) & STORE_KEY_BINARY);
    }
}

void store_meta_stored(store_dialogue_t *dialogue, store_reply_t *reply)
{
    store_meta_line_t line = {.n = 0};
    store_result_t rv;
    uint64_t cas;

    if (!store_value_is_sound(dialogue)) {
        store_count(dialogue->caller.counters, STORE_SETS, 1);
        store_answer_error(reply, "CLIENT_ERROR bad data chunk");
        return;
    }
    rv = store_update(&dialogue->caller, dialogue->item, &dialogue->update,
                      &cas);
    if (rv == STORE_DONE && dialogue->quiet_meta)
        return;
    store_meta_line_word(&line, rv == STORE_DONE        ? "HD"
                                : rv == STORE_EXISTS    ? "EX"
                                : rv == STORE_NOT_FOUND ? "NF"
                                                        : "NS");
    add_remembered(dialogue, &line, cas);
    store_meta_line_end(&line, reply);
}

/* ---- md ---- */

/* @return 0: an error was answered */
static int parse(store_meta_flags_t *f, const store_tokens_t *tokens,
                 store_reply_t *reply)
{
    if (store_meta_flags_parse(f, tokens, 2) == NULL)
        return 1;
    store_answer_error(reply, "CLIENT_ERROR invalid or duplicate flag");
    return 0;
}

static void answer(const store_meta_flags_t *f, const char *word,
                   store_reply_t *reply)
{
    store_meta_line_t line = {.n = 0};

    store_meta_line_word(&line, word);
    store_meta_line_repeat(&line, f);
    store_meta_line_end(&line, reply);
}

static void delete_meta(store_dialogue_t *dialogue,
                        const store_tokens_t *tokens, store_reply_t *reply)
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
    switch (store_verbs_delete(&dialogue->caller, f.key, f.klen, &how)) {
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
                          int created, store_reply_t *reply)
{
    store_meta_line_t line = {.n = 0};
    char digits[STORE_DIGITS];
    int n = snprintf(digits, sizeof digits, "%" PRIu64, d->value);
    unsigned i;

    store_meta_line_word(&line, f->value ? "VA " : "HD");
    if (f->value)
        store_meta_line_digits(&line, (uint64_t)n);
    for (i = f->first; i < f->tokens->n; i++) {
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

/* @return 0: there is no such mode */
static int how_to_count(const store_meta_flags_t *f, store_delta_t *d)
{
    *d = (store_delta_t){.decrement = f->mode == 'D' || f->mode == '-',
                         .delta = f->delta,
                         .cas = f->cas,
                         .vivify = f->vivify,
                         .initial = f->initial,
                         .vivify_exptime = store_meta_flags_exptime(f, 0, 0, 1),
                         .binary_key = f->unsafe_key,
                         .touch = f->touch,
                         .exptime = f->exptime};
    if (f->long_opaque) { /* flags behind it have no effect */
        d->touch =
            store_meta_flags_exptime(f, 'O', UINT32_MAX, 0) != UINT32_MAX;
        d->vivify_exptime = store_meta_flags_exptime(f, 'O', 0, 1);
    }
    return d->decrement || f->mode == 0 || f->mode == 'I' || f->mode == '+';
}

static void number_meta(store_dialogue_t *dialogue,
                        const store_tokens_t *tokens, store_reply_t *reply)
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
    rv = store_delta_apply(&dialogue->caller, f.key, f.klen, &d);
    answer_result(&f, &d, rv, reply);
}

/* ---- me ---- */

/* The exptime is written as memcached does: the negative time to live. */
static void describe(const store_item_t *item, const store_fetch_t *fetch,
                     store_reply_t *reply)
{
    char text[STORE_META_BASE64(STORE_KEY_MAX)];
    uint32_t now = store_clock(), size = store_item_size(item);
    size_t n;
    unsigned class_ =
        store_class_of(size < STORE_CHUNK_MAX ? size : STORE_CHUNK_MAX);

    store_reply_copy(reply, "ME ", 3);
    if (fetch->bits & STORE_KEY_BINARY) {
        n = store_meta_encode(store_item_key(item), item->klen, text);
        store_reply_copy(reply, text, n);
    }
    else {
        store_reply_copy(reply, store_item_key(item), item->klen);
    }
    store_reply_format(reply,
                       " exp=%" PRId32 " la=%" PRIu32 " cas=%" PRIu64
                       " fetch=%s cls=%u size=%" PRIu32 "\r\n",
                       fetch->before == 0 ? -1 : (int32_t)(now - fetch->before),
                       now - fetch->used, item->cas,
                       fetch->bits & STORE_FETCHED ? "yes" : "no", class_ + 1,
                       size);
}

static void debug_meta(store_dialogue_t *dialogue, const store_tokens_t *tokens,
                       store_reply_t *reply)
{
    store_token_t key = tokens->word[1];
    store_fetch_t fetch = {.no_update = 1};
    char decoded[STORE_KEY_MAX];
    store_item_t *item;

    if (tokens->n < 2 || key.n > STORE_KEY_MAX) {
        store_answer_error(reply, BAD_LINE);
        return;
    }
    if (tokens->n >= 3 && store_token_is(tokens->word[2], "b")) {
        key.n = store_meta_decode(key.at, key.n, decoded);
        key.at = decoded;
        if (key.n == 0) {
            store_answer_error(reply, BAD_LINE);
            return;
        }
    }
    item = store_verbs_fetch(&dialogue->caller, key.at, (uint8_t)key.n, &fetch);
    store_count(dialogue->caller.counters, STORE_META_COMMANDS, 1);
    if (!item) {
        store_answer_error(reply, "EN");
        return;
    }
    describe(item, &fetch, reply);
    store_item_release(dialogue->caller.space, item);
}

/* ---- all ---- */

/* @return the answer to a line with the wrong number of words, or with a key
 *         that is too long; NULL: it is good */
static const char *check(const store_tokens_t *tokens, char command)
{
    if (tokens->n < 2)
        return "ERROR";
    if (tokens->word[1].n > STORE_KEY_MAX)
        return BAD_LINE;
    if (command == 's' && tokens->n == 2)
        return BAD_LINE;
    if (tokens->n > STORE_META_WORDS)
        return command == 'g' ? "CLIENT_ERROR options flags are too long"
                              : "CLIENT_ERROR options flags too long";
    return NULL;
}

void store_meta_line(store_dialogue_t *dialogue, const store_tokens_t *tokens,
                     store_reply_t *reply)
{
    char command = tokens->word[0].at[1];
    int flags = command != 'n' && command != 'e' && strchr("gsda", command);
    const char *wrong = flags ? check(tokens, command) : NULL;

    if (wrong)
        store_answer_error(reply, wrong);
    else if ((command == 'd' || command == 'a') &&
             !store_writes_begin(dialogue))
        store_writes_refuse(dialogue, reply);
    else if (command == 'g')
        fetch_meta(dialogue, tokens, reply);
    else if (command == 's')
        set_meta(dialogue, tokens, reply);
    else if (command == 'd')
        delete_meta(dialogue, tokens, reply);
    else if (command == 'a')
        number_meta(dialogue, tokens, reply);
    else if (command == 'e')
        debug_meta(dialogue, tokens, reply);
    else
        store_answer_error(reply, command == 'n' ? "MN" : "ERROR");
}
