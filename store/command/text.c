/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/command/text.h"

#include <inttypes.h>
#include <string.h>

#include "store/clock.h"
#include "store/command/answer.h"
#include "store/command/delta.h"
#include "store/command/meta.h"
#include "store/command/stats.h"
#include "store/command/text_get.h"
#include "store/command/text_other.h"
#include "store/command/text_set.h"
#include "store/command/token.h"
#include "store/command/writes.h"

/* What one command needs. */
typedef struct {
    store_session_t *session;
    const store_tokens_t *tokens;
    store_reply_t *reply;
} command_t;

static void answer(const command_t *c, const char *line)
{
    store_answer(c->session, c->reply, line);
}

static store_token_t word(const command_t *c, unsigned i)
{
    return c->tokens->word[i];
}

/* The last word may be "noreply". */
static bool look_for_noreply(const command_t *c)
{
    if (store_token_is(word(c, c->tokens->n - 1), "noreply"))
        c->session->quiet = true;
    return c->session->quiet;
}

static bool key_is_good(const command_t *c)
{
    if (word(c, 1).n <= STORE_KEY_MAX)
        return true;
    answer(c, "CLIENT_ERROR bad command line format");
    return false;
}

static void touch(const command_t *c)
{
    store_token_t key = word(c, 1);
    store_fetch_t fetch = {.touch = true};
    store_item_t *item;
    int32_t exptime;

    look_for_noreply(c);
    if (!key_is_good(c))
        return;
    if (!store_token_i32(word(c, 2), &exptime)) {
        answer(c, "CLIENT_ERROR invalid exptime argument");
        return;
    }
    fetch.exptime = store_clock_exptime(exptime);
    item =
        store_verbs_fetch(&c->session->caller, key.at, (uint8_t)key.n, &fetch);
    answer(c, item ? "TOUCHED" : "NOT_FOUND");
    if (item)
        store_item_release(c->session->caller.space, item);
}

/* The command was not done. */
static void answer_failure(const command_t *c, store_result_t why)
{
    switch (why) {
    case STORE_NOT_FOUND:
        answer(c, "NOT_FOUND");
        break;
    case STORE_LOCKED_OUT:
        answer(c, "LOCKED");
        break;
    case STORE_NOT_NUMERIC:
        answer(c,
               "CLIENT_ERROR cannot increment or decrement non-numeric value");
        break;
    case STORE_TOO_MANY_LOCKS:
        answer(c, "SERVER_ERROR " STORE_LOCKS_TEXT);
        break;
    default:
        answer(c, "SERVER_ERROR out of memory");
        break;
    }
}

static void delta(const command_t *c, bool decrement)
{
    store_token_t key = word(c, 1);
    store_delta_t d = {.decrement = decrement};
    store_result_t result;

    look_for_noreply(c);
    if (!key_is_good(c))
        return;
    if (!store_token_u64(word(c, 2), &d.delta)) {
        answer(c, "CLIENT_ERROR invalid numeric delta argument");
        return;
    }
    result = store_delta_apply(&c->session->caller, key.at, (uint8_t)key.n, &d);
    if (result != STORE_DONE)
        answer_failure(c, result);
    else if (!c->session->quiet)
        store_reply_format(c->reply, "%" PRIu64 "\r\n", d.value);
}

static void incr(const command_t *c)
{
    delta(c, false);
}

static void decr(const command_t *c)
{
    delta(c, true);
}

/* Old clients send a time of 0 with it. */
static bool delete_is_good(const command_t *c)
{
    bool zero, noreply;

    if (c->tokens->n == 2)
        return true;
    zero = store_token_is(word(c, 2), "0");
    noreply = look_for_noreply(c);
    return c->tokens->n == 3 ? zero || noreply : zero && noreply;
}

static void delete_key(const command_t *c)
{
    store_token_t key = word(c, 1);
    store_delete_t how = {0};
    store_result_t result;

    if (!delete_is_good(c)) {
        answer(c, "CLIENT_ERROR bad command line format.  "
                  "Usage: delete <key> [noreply]");
        return;
    }
    if (!key_is_good(c))
        return;
    result =
        store_verbs_delete(&c->session->caller, key.at, (uint8_t)key.n, &how);
    if (result == STORE_DONE)
        answer(c, "DELETED");
    else
        answer_failure(c, result);
}

static void lock(const command_t *c)
{
    store_token_t key = word(c, 1);
    store_result_t result;

    if (!key_is_good(c))
        return;
    result = store_key_lock(&c->session->caller, key.at, (uint8_t)key.n);
    if (result == STORE_DONE)
        answer(c, "OK");
    else
        answer_failure(c, result);
}

static void unlock(const command_t *c)
{
    store_token_t key = word(c, 1);

    if (!key_is_good(c))
        return;
    answer(c, store_key_unlock(&c->session->caller, key.at, (uint8_t)key.n) ==
                      STORE_DONE
                  ? "OK"
                  : "CLIENT_ERROR object is not locked or not found");
}

static void unlock_all(const command_t *c)
{
    store_key_unlock_all(&c->session->caller);
    answer(c, "OK");
}

static void flush_all(const command_t *c)
{
    int32_t exptime = 0;
    bool noreply = look_for_noreply(c);

    if (c->tokens->n != (noreply ? 2 : 1) &&
        !store_token_i32(word(c, 1), &exptime)) {
        answer(c, "CLIENT_ERROR invalid exptime argument");
        return;
    }
    store_verbs_flush(&c->session->caller, exptime);
    answer(c, "OK");
}

static void version(const command_t *c)
{
    answer(c, "VERSION " STORE_SENT_VERSION);
}

static void quit(const command_t *c)
{
    store_key_unlock_all(&c->session->caller);
    c->session->over = true;
}

static void stats(const command_t *c)
{
    store_stats_text(c->session, c->tokens, c->reply);
}

static void set(const command_t *c)
{
    store_text_set(c->session, c->tokens, c->reply, STORE_MODE_SET);
}

static void add(const command_t *c)
{
    store_text_set(c->session, c->tokens, c->reply, STORE_MODE_ADD);
}

static void replace(const command_t *c)
{
    store_text_set(c->session, c->tokens, c->reply, STORE_MODE_REPLACE);
}

static void append(const command_t *c)
{
    store_text_set(c->session, c->tokens, c->reply, STORE_MODE_APPEND);
}

static void prepend(const command_t *c)
{
    store_text_set(c->session, c->tokens, c->reply, STORE_MODE_PREPEND);
}

static void cas(const command_t *c)
{
    store_text_set(c->session, c->tokens, c->reply, STORE_MODE_CAS);
}

/* Commands with the number of their words. */
static const struct {
    const char *name;
    unsigned least, most;
    void (*serve)(const command_t *);
    bool writes; /* now: what stores a value writes when it has arrived */
} commands[] = {
    {"set", 5, 6, set, false},
    {"add", 5, 6, add, false},
    {"replace", 5, 6, replace, false},
    {"append", 5, 6, append, false},
    {"prepend", 5, 6, prepend, false},
    {"cas", 6, 7, cas, false},
    {"incr", 3, 4, incr, true},
    {"decr", 3, 4, decr, true},
    {"delete", 2, 4, delete_key, true},
    {"touch", 3, 4, touch, true},
    {"flush_all", 1, 3, flush_all, true},
    {"lock", 2, 2, lock, false},
    {"unlock", 2, 2, unlock, false},
    {"unlock_all", 1, STORE_TOKENS, unlock_all, false},
    {"stats", 1, STORE_TOKENS, stats, false},
    {"version", 1, STORE_TOKENS, version, false},
    {"quit", 1, STORE_TOKENS, quit, false},
};

/* An HTTP request came to the wrong socket, or an attacker has forged it. */
static bool is_http(const command_t *c)
{
    static const char beginnings[] = "mgsacidt";
    store_token_t last = word(c, c->tokens->n - 1);

    return memchr(beginnings, word(c, 0).at[0], sizeof beginnings - 1) ==
               NULL &&
           last.n >= 5 && memcmp(last.at, "HTTP/", 5) == 0;
}

static bool is_allowed(const command_t *c, bool writes)
{
    if (!writes || store_writes_begin(c->session))
        return true;
    look_for_noreply(c);
    store_writes_refuse(c->session, c->reply);
    return false;
}

static void serve(const command_t *c)
{
    store_token_t name = word(c, 0);

    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (!store_token_is(name, commands[i].name))
            continue;
        if (c->tokens->n < commands[i].least || c->tokens->n > commands[i].most)
            answer(c, "ERROR");
        else if (is_allowed(c, commands[i].writes))
            commands[i].serve(c);
        return;
    }
    if (is_http(c))
        c->session->over = true;
    else if (!store_text_other(c->session, c->tokens, c->reply))
        answer(c, "ERROR");
}

size_t store_text_line(store_session_t *session, const char *line, size_t n,
                       store_reply_t *reply)
{
    store_tokens_t tokens;
    const char *rest = line;
    store_token_t name = store_token_next(&rest, line + n);
    size_t used;

    if (store_text_get(session, name, rest, line + n, reply, &used))
        return (size_t)(rest - line) + used;
    store_token_split(&tokens, line, n);
    if (name.n < 2)
        store_answer_error(reply, "ERROR");
    else if (name.n == 2 && name.at[0] == 'm')
        store_meta_line(session, &tokens, reply);
    else
        serve(&(command_t){session, &tokens, reply});
    return n;
}
