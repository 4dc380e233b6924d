/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/command/meta.h"

#include <inttypes.h>
#include <string.h>

#include "store/clock.h"
#include "store/command/answer.h"
#include "store/command/base64.h"
#include "store/command/meta_change.h"
#include "store/command/meta_flags.h"
#include "store/command/meta_set.h"
#include "store/command/writes.h"
#include "store/memory/chunk.h"

#define BAD_LINE "CLIENT_ERROR bad command line format"

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

static void found(store_session_t *session, const store_meta_flags_t *f,
                  const store_fetch_t *fetch, store_item_t *item,
                  store_reply_t *reply)
{
    store_meta_line_t line = {.n = 0};

    store_meta_line_word(&line, f->value ? "VA " : "HD");
    if (f->value)
        store_meta_line_digits(&line, item->length);
    for (unsigned i = f->first; i < f->tokens->n; i++)
        add_flag(&line, f->tokens->word[i], f, fetch, item);
    if (fetch->bits & STORE_TOKEN_SENT)
        store_meta_line_word(&line, " Z");
    if (fetch->bits & STORE_STALE)
        store_meta_line_word(&line, " X");
    if (fetch->won)
        store_meta_line_word(&line, " W");
    store_meta_line_end(&line, reply);
    if (f->value) {
        store_reply_value(reply, session->caller.space, item);
        store_reply_copy(reply, "\r\n", 2);
    }
}

static store_fetch_t how_to_fetch(const store_meta_flags_t *f)
{
    return (store_fetch_t){
        .touch = f->touch,
        .exptime = f->exptime,
        .vivify = f->vivify,
        .vivify_exptime = store_meta_flags_exptime(f, 0, 0, true),
        .binary_key = f->unsafe_key,
        .recache = f->recache,
        .recache_time = f->recache_time,
        .recache_last =
            store_meta_flags_exptime(f, 'R', UINT32_MAX, false) != UINT32_MAX,
        .win_stale = true,
        .no_update = !f->update};
}

/* memcached finds an opaque that is too long when it makes the answer. By then
 * the flags before it have had their effect. With flags that look at the last
 * access, memcached notes the access after the answer only. */
static void refuse_opaque(store_session_t *session, const store_meta_flags_t *f,
                          store_reply_t *reply)
{
    uint32_t exptime = store_meta_flags_exptime(f, 'O', UINT32_MAX, false);
    store_fetch_t fetch = how_to_fetch(f);
    store_item_t *item;

    fetch.touch = exptime != UINT32_MAX;
    fetch.vivify_exptime = store_meta_flags_exptime(f, 'O', 0, true);
    fetch.recache = fetch.win_stale = false;
    fetch.no_win = true;
    if (f->vivify || f->touch || f->recache || store_meta_flags_has(f, 'l') ||
        store_meta_flags_has(f, 'h'))
        fetch.no_update = true;
    item = store_verbs_fetch(&session->caller, f->key, f->klen, &fetch);
    if (item)
        store_item_release(session->caller.space, item);
    store_answer_error(reply, "CLIENT_ERROR opaque token too long");
}

static void fetch_item(store_session_t *session, const store_meta_flags_t *f,
                       store_reply_t *reply)
{
    store_meta_line_t line = {.n = 0};
    store_fetch_t fetch = how_to_fetch(f);
    store_item_t *item =
        store_verbs_fetch(&session->caller, f->key, f->klen, &fetch);

    if (item) {
        found(session, f, &fetch, item, reply);
        store_item_release(session->caller.space, item);
    }
    else if (fetch.overflow) {
        store_answer_error(reply,
                           "SERVER_ERROR refcount overflow during fetch");
    }
    else if (!f->quiet) {
        store_meta_line_word(&line, "EN");
        store_meta_line_repeat(&line, f);
        store_meta_line_end(&line, reply);
    }
}

static void fetch_meta(store_session_t *session, const store_tokens_t *tokens,
                       store_reply_t *reply)
{
    store_meta_flags_t f;
    const char *wrong = store_meta_flags_parse(&f, tokens, 2);

    if (wrong)
        store_answer_error(reply, wrong);
    else if ((f.touch || f.vivify) && !store_writes_begin(session))
        store_writes_refuse(session, reply);
    else if (f.long_opaque)
        refuse_opaque(session, &f, reply);
    else
        fetch_item(session, &f, reply);
}

/* ---- me ---- */

/* The exptime is written as memcached does: the negative time to live. */
static void describe(const store_item_t *item, const store_fetch_t *fetch,
                     store_reply_t *reply)
{
    char text[STORE_BASE64_LENGTH(STORE_KEY_MAX)];
    uint32_t now = store_clock(), size = store_item_size(item);
    size_t n;
    unsigned class_ =
        store_class_of(size < STORE_CHUNK_MAX ? size : STORE_CHUNK_MAX);

    store_reply_copy(reply, "ME ", 3);
    if (fetch->bits & STORE_KEY_BINARY) {
        n = store_base64_encode(store_item_key(item), item->klen, text);
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

static void debug_meta(store_session_t *session, const store_tokens_t *tokens,
                       store_reply_t *reply)
{
    store_token_t key = tokens->word[1];
    store_fetch_t fetch = {.no_update = true};
    char decoded[STORE_KEY_MAX];
    store_item_t *item;

    if (tokens->n < 2 || key.n > STORE_KEY_MAX) {
        store_answer_error(reply, BAD_LINE);
        return;
    }
    if (tokens->n >= 3 && store_token_is(tokens->word[2], "b")) {
        key.n = store_base64_decode(key.at, key.n, decoded);
        key.at = decoded;
        if (key.n == 0) {
            store_answer_error(reply, BAD_LINE);
            return;
        }
    }
    item = store_verbs_fetch(&session->caller, key.at, (uint8_t)key.n, &fetch);
    store_count(session->caller.counters, STORE_META_COMMANDS, 1);
    if (item == NULL) {
        store_answer_error(reply, "EN");
        return;
    }
    describe(item, &fetch, reply);
    store_item_release(session->caller.space, item);
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

void store_meta_line(store_session_t *session, const store_tokens_t *tokens,
                     store_reply_t *reply)
{
    char command = tokens->word[0].at[1];
    bool flags = command != 'n' && command != 'e' && strchr("gsda", command);
    const char *wrong = flags ? check(tokens, command) : NULL;

    if (wrong)
        store_answer_error(reply, wrong);
    else if ((command == 'd' || command == 'a') && !store_writes_begin(session))
        store_writes_refuse(session, reply);
    else if (command == 'g')
        fetch_meta(session, tokens, reply);
    else if (command == 's')
        store_meta_set(session, tokens, reply);
    else if (command == 'd')
        store_meta_change_delete(session, tokens, reply);
    else if (command == 'a')
        store_meta_change_number(session, tokens, reply);
    else if (command == 'e')
        debug_meta(session, tokens, reply);
    else
        store_answer_error(reply, command == 'n' ? "MN" : "ERROR");
}
