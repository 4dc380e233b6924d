/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/protocol/protocols.h"

#include <inttypes.h>
#include <string.h>

#include "store/clock.h"
#include "store/protocol/delta.h"
#include "store/protocol/dialogue_state.h"
#include "store/protocol/token.h"

/* ---- get, gets, gat and gats: any number of keys in one line ---- */

static char *number(char *at, uint64_t n)
{
    char digits[20];
    size_t i = sizeof digits;

    do
        digits[--i] = (char)('0' + n % 10);
    while ((n /= 10) > 0);
    *at++ = ' ';
    memcpy(at, digits + i, sizeof digits - i);
    return at + sizeof digits - i;
}

static void add_value(const store_dialogue_t *dialogue, store_reply_t *reply,
                      store_item_t *item)
{
    char head[STORE_KEY_MAX + 80], *at = head;

    memcpy(at, "VALUE ", 6);
    memcpy(at + 6, store_item_key(item), item->klen);
    at = number(at + 6 + item->klen, item->flags);
    at = number(at, item->length);
    if (dialogue->get_cas)
        at = number(at, item->cas);
    memcpy(at, "\r\n", 2);
    store_reply_copy(reply, head, (size_t)(at + 2 - head));
    store_reply_value(reply, dialogue->caller.space, item);
    store_reply_copy(reply, "\r\n", 2);
}

static void get_key(const store_dialogue_t *dialogue, store_token_t key,
                    store_reply_t *reply)
{
    store_fetch_t fetch = {.touch = dialogue->get_touch,
                           .exptime = dialogue->get_exptime};
    store_item_t *item =
        store_verbs_fetch(&dialogue->caller, key.at, (uint8_t)key.n, &fetch);

    if (!item)
        return;
    add_value(dialogue, reply, item);
    store_item_release(dialogue->caller.space, item);
}

/* When much waits to be sent, the other keys of the line are served later. All
 * are checked before the first one is served. */
size_t store_text_get_more(store_dialogue_t *dialogue, const char *line,
                           size_t n, store_reply_t *reply)
{
    const char *at = line, *end = line + n;

    for (;;) {
        store_token_t key = store_token_next(&at, end);

        if (key.n == 0) {
            store_reply_copy(reply, "END\r\n", 5);
            dialogue->phase = STORE_PHASE_COMMAND;
            return n;
        }
        if (store_reply_is_full(reply) || dialogue->looked == STORE_GET_SLICE) {
            dialogue->phase = STORE_PHASE_GET;
            return (size_t)(key.at - line);
        }
        get_key(dialogue, key, reply);
        dialogue->looked++;
    }
}

static int keys_are_good(const char *at, const char *end)
{
    store_token_t key;

    do {
        key = store_token_next(&at, end);
        if (key.n > STORE_KEY_MAX)
            return 0;
    } while (key.n > 0);
    return 1;
}

/* @return the answer to an error; NULL: there is none */
static const char *check_get(store_dialogue_t *dialogue, const char **rest,
                             const char *end)
{
    const char *at = *rest;
    store_token_t first = store_token_next(&at, end);
    int32_t exptime;

    if (first.n == 0)
        return "ERROR";
    if (dialogue->get_touch) {
        if (!store_token_i32(first, &exptime))
            return "CLIENT_ERROR invalid exptime argument";
        dialogue->get_exptime = store_clock_exptime(exptime);
        *rest = at;
    }
    return keys_are_good(*rest, end) ? NULL
                                     : "CLIENT_ERROR bad command line format";
}

/* @param name the first word of the line
 * @param rest what follows it, to `end`
 * @param used bytes of the rest
 * @return 0: it is another command */
static int get(store_dialogue_t *dialogue, store_token_t name, const char *rest,
               const char *end, store_reply_t *reply, size_t *used)
{
    const char *keys = rest, *wrong;

    if (!store_token_is(name, "get") && !store_token_is(name, "gets") &&
        !store_token_is(name, "gat") && !store_token_is(name, "gats") &&
        !store_token_is(name, "bget"))
        return 0;
    dialogue->get_cas = name.at[name.n - 1] == 's';
    dialogue->get_touch = name.at[0] == 'g' && name.at[1] == 'a';
    wrong = check_get(dialogue, &keys, end);
    if (wrong) {
        store_answer_error(reply, wrong);
        *used = (size_t)(end - rest);
    }
    else if (dialogue->get_touch && !store_writes_begin(dialogue)) {
        store_writes_refuse(dialogue, reply);
        *used = (size_t)(end - rest);
    }
    else {
        *used =
            (size_t)(keys - rest) +
            store_text_get_more(dialogue, keys, (size_t)(end - keys), reply);
    }
    return 1;
}

/* ---- one command ---- */

/* What one command needs. */
typedef struct {
    store_dialogue_t *dialogue;
    const store_tokens_t *tokens;
    store_reply_t *reply;
} command_t;

static void answer(const command_t *c, const char *line)
{
    store_answer(c->dialogue, c->reply, line);
}

static store_token_t word(const command_t *c, unsigned i)
{
    return c->tokens->word[i];
}

/* The last word may be "noreply". */
static int look_for_noreply(const command_t *c)
{
    if (store_token_is(word(c, c->tokens->n - 1), "noreply"))
        c->dialogue->quiet = 1;
    return c->dialogue->quiet;
}

static int key_is_good(const command_t *c)
{
    if (word(c, 1).n <= STORE_KEY_MAX)
        return 1;
    answer(c, "CLIENT_ERROR bad command line format");
    return 0;
}

/* ---- commands that store a value ---- */

/* The words of the line. */
typedef struct {
    uint32_t flags;
    int32_t exptime, length;
    store_update_t update;
} update_line_t;

static int parse(update_line_t *line, const store_token_t *words)
{
    return words[1].n <= STORE_KEY_MAX &&
           store_token_u32(words[2], &line->flags) &&
           store_token_i32(words[3], &line->exptime) &&
           store_token_i32(words[4], &line->length) &&
           (line->update.mode != STORE_MODE_CAS ||
            store_token_u64(words[5], &line->update.cas)) &&
           line->length >= 0 && line->length <= INT32_MAX - 2;
}

/* The value comes next. */
static void store(const command_t *c, store_mode_t mode)
{
    const store_token_t *words = c->tokens->word;
    update_line_t line = {.update = {.mode = mode}};
    store_value_t rv;

    look_for_noreply(c);
    if (!parse(&line, words)) {
        answer(c, "CLIENT_ERROR bad command line format");
        return;
    }
    rv = store_value_begin(c->dialogue, STORE_PROTOCOL_TEXT, words[1].at,
                           (uint8_t)words[1].n, line.flags,
                           store_clock_exptime(line.exptime),
                           (uint32_t)line.length, &line.update);
    if (rv == STORE_VALUE_BEGUN)
        return;
    answer(c, store_value_why(rv));
    if (mode == STORE_MODE_SET)
        store_verbs_drop(&c->dialogue->caller, words[1].at,
                         (uint8_t)words[1].n);
}

static void set(const command_t *c)
{
    store(c, STORE_MODE_SET);
}

static void add(const command_t *c)
{
    store(c, STORE_MODE_ADD);
}

static void replace(const command_t *c)
{
    store(c, STORE_MODE_REPLACE);
}

static void append(const command_t *c)
{
    store(c, STORE_MODE_APPEND);
}

static void prepend(const command_t *c)
{
    store(c, STORE_MODE_PREPEND);
}

static void cas(const command_t *c)
{
    store(c, STORE_MODE_CAS);
}

void store_text_stored(store_dialogue_t *dialogue, store_reply_t *reply)
{
    const char *line = "STORED";
    uint64_t cas;

    if (!store_value_is_sound(dialogue)) {
        store_count(dialogue->caller.counters, STORE_SETS, 1);
        store_answer(dialogue, reply, "CLIENT_ERROR bad data chunk");
        return;
    }
    switch (store_update(&dialogue->caller, dialogue->item, &dialogue->update,
                         &cas)) {
    case STORE_DONE:
        break;
    case STORE_EXISTS:
        line = "EXISTS";
        break;
    case STORE_NOT_FOUND:
        line = "NOT_FOUND";
        break;
    case STORE_LOCKED_OUT:
        line = "LOCKED";
        break;
    default:
        line = "NOT_STORED";
        break;
    }
    store_answer(dialogue, reply, line);
}

/* ---- other commands ---- */

static void touch(const command_t *c)
{
    store_token_t key = word(c, 1);
    store_fetch_t fetch = {.touch = 1};
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
        store_verbs_fetch(&c->dialogue->caller, key.at, (uint8_t)key.n, &fetch);
    answer(c, item ? "TOUCHED" : "NOT_FOUND");
    if (item)
        store_item_release(c->dialogue->caller.space, item);
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

static void delta(const command_t *c, int decrement)
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
    result =
        store_delta_apply(&c->dialogue->caller, key.at, (uint8_t)key.n, &d);
    if (result != STORE_DONE)
        answer_failure(c, result);
    else if (!c->dialogue->quiet)
        store_reply_format(c->reply, "%" PRIu64 "\r\n", d.value);
}

static void incr(const command_t *c)
{
    delta(c, 0);
}

static void decr(const command_t *c)
{
    delta(c, 1);
}

/* Old clients send a time of 0 with it. */
static int delete_is_good(const command_t *c)
{
    int zero, noreply;

    if (c->tokens->n == 2)
        return 1;
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
        store_verbs_delete(&c->dialogue->caller, key.at, (uint8_t)key.n, &how);
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
    result = store_key_lock(&c->dialogue->caller, key.at, (uint8_t)key.n);
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
    answer(c, store_key_unlock(&c->dialogue->caller, key.at, (uint8_t)key.n) ==
                      STORE_DONE
                  ? "OK"
                  : "CLIENT_ERROR object is not locked or not found");
}

static void unlock_all(const command_t *c)
{
    store_key_unlock_all(&c->dialogue->caller);
    answer(c, "OK");
}

static void flush_all(const command_t *c)
{
    int32_t exptime = 0;
    int noreply = look_for_noreply(c);

    if (c->tokens->n != (noreply ? 2 : 1) &&
        !store_token_i32(word(c, 1), &exptime)) {
        answer(c, "CLIENT_ERROR invalid exptime argument");
        return;
    }
    store_verbs_flush(&c->dialogue->caller, exptime);
    answer(c, "OK");
}

static void version(const command_t *c)
{
    answer(c, "VERSION " STORE_SENT_VERSION);
}

static void quit(const command_t *c)
{
    store_key_unlock_all(&c->dialogue->caller);
    c->dialogue->over = 1;
}

static void stats(const command_t *c)
{
    store_stats_text(c->dialogue, c->tokens, c->reply);
}

/* ---- commands of memcached's own administration ----
 *
 * What would change the store is answered as memcached answers when it is
 * disabled there. */

/* The answers. NULL: the command is wrong. */

static const char *verbosity(const store_tokens_t *t)
{
    uint32_t level;

    if (t->n < 2 || t->n > 3)
        return NULL;
    return store_token_u32(t->word[1], &level)
               ? "OK"
               : "CLIENT_ERROR bad command line format";
}

static const char *cache_memlimit(const store_tokens_t *t)
{
    uint32_t megabytes;

    if (t->n < 2 || t->n > 3 || !store_token_u32(t->word[1], &megabytes))
        return NULL;
    if (megabytes < 8)
        return "MEMLIMIT_TOO_SMALL cannot set maxbytes to less than 8m";
    return megabytes > 1000000000
               ? "MEMLIMIT_ADJUST_FAILED input value is megabytes not bytes"
               : "MEMLIMIT_ADJUST_FAILED out of bounds or unable to adjust";
}

static const char *slabs(const store_tokens_t *t)
{
    return t->n == 4 && store_token_is(t->word[1], "reassign")
               ? "CLIENT_ERROR slab reassignment disabled"
               : NULL;
}

static const char *lru_crawler(const store_tokens_t *t)
{
    return t->n == 3 && store_token_is(t->word[1], "crawl")
               ? "CLIENT_ERROR lru crawler disabled"
               : NULL;
}

static const char *shut_down(const store_tokens_t *t)
{
    (void)t;
    return "ERROR: shutdown not enabled";
}

static const char *watch(const store_tokens_t *t)
{
    (void)t;
    return "CLIENT_ERROR watch commands not allowed";
}

static const struct {
    const char *name;
    int noreply; /* it may end with this word */
    const char *(*answer)(const store_tokens_t *);
} administration[] = {
    {"verbosity", 1, verbosity}, {"cache_memlimit", 1, cache_memlimit},
    {"slabs", 0, slabs},         {"lru_crawler", 0, lru_crawler},
    {"shutdown", 0, shut_down},  {"watch", 1, watch},
};

/* @return 0: it is no such command */
static int administer(const command_t *c)
{
    const char *text;
    size_t i;

    if (store_dump_begin(c->dialogue, c->tokens))
        return 1;
    for (i = 0; i < sizeof administration / sizeof *administration; i++) {
        if (!store_token_is(word(c, 0), administration[i].name))
            continue;
        text = administration[i].answer(c->tokens);
        if (text && administration[i].noreply)
            look_for_noreply(c);
        answer(c, text ? text : "ERROR");
        return 1;
    }
    return 0;
}

/* ---- all ---- */

/* Commands with the number of their words. */
static const struct {
    const char *name;
    unsigned least, most;
    void (*serve)(const command_t *);
    int writes; /* now: what stores a value writes when it has arrived */
} commands[] = {
    {"set", 5, 6, set, 0},
    {"add", 5, 6, add, 0},
    {"replace", 5, 6, replace, 0},
    {"append", 5, 6, append, 0},
    {"prepend", 5, 6, prepend, 0},
    {"cas", 6, 7, cas, 0},
    {"incr", 3, 4, incr, 1},
    {"decr", 3, 4, decr, 1},
    {"delete", 2, 4, delete_key, 1},
    {"touch", 3, 4, touch, 1},
    {"flush_all", 1, 3, flush_all, 1},
    {"lock", 2, 2, lock, 0},
    {"unlock", 2, 2, unlock, 0},
    {"unlock_all", 1, STORE_TOKENS, unlock_all, 0},
    {"stats", 1, STORE_TOKENS, stats, 0},
    {"version", 1, STORE_TOKENS, version, 0},
    {"quit", 1, STORE_TOKENS, quit, 0},
};

/* An HTTP request came to the wrong socket, or an attacker has forged it. */
static int is_http(const command_t *c)
{
    static const char beginnings[] = "mgsacidt";
    store_token_t last = word(c, c->tokens->n - 1);

    return memchr(beginnings, word(c, 0).at[0], sizeof beginnings - 1) ==
               NULL &&
           last.n >= 5 && memcmp(last.at, "HTTP/", 5) == 0;
}

static int is_allowed(const command_t *c, int writes)
{
    if (!writes || store_writes_begin(c->dialogue))
        return 1;
    look_for_noreply(c);
    store_writes_refuse(c->dialogue, c->reply);
    return 0;
}

static void serve(const command_t *c)
{
    store_token_t name = word(c, 0);
    size_t i;

    for (i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (!store_token_is(name, commands[i].name))
            continue;
        if (c->tokens->n < commands[i].least || c->tokens->n > commands[i].most)
            answer(c, "ERROR");
        else if (is_allowed(c, commands[i].writes))
            commands[i].serve(c);
        return;
    }
    if (is_http(c))
        c->dialogue->over = 1;
    else if (!administer(c))
        answer(c, "ERROR");
}

size_t store_text_line(store_dialogue_t *dialogue, const char *line, size_t n,
                       store_reply_t *reply)
{
    store_tokens_t tokens;
    const char *rest = line;
    store_token_t name = store_token_next(&rest, line + n);
    size_t used;

    if (get(dialogue, name, rest, line + n, reply, &used))
        return (size_t)(rest - line) + used;
    store_token_split(&tokens, line, n);
    if (name.n < 2)
        store_answer_error(reply, "ERROR");
    else if (name.n == 2 && name.at[0] == 'm')
        store_meta_line(dialogue, &tokens, reply);
    else
        serve(&(command_t){dialogue, &tokens, reply});
    return n;
}
