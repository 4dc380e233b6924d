/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/protocol/dialogue.h"

#include <stdlib.h>
#include <string.h>

#include "store/protocol/dialogue_state.h"
#include "store/protocol/protocols.h"
#include "store/protocol/verbs.h"

/* Work that is as much as one command. */
#define KEYS   16        /* of a line that gets many */
#define COPIED (1 << 14) /* bytes of values */

store_dialogue_t *store_dialogue_make(store_space_t *space,
                                      store_counters_t *counters,
                                      const store_server_t *server)
{
    store_dialogue_t *dialogue = calloc(1, sizeof *dialogue);

    if (dialogue) {
        dialogue->caller = (store_caller_t){space, counters, &dialogue->copied,
                                            &dialogue->locks};
        dialogue->server = server;
    }
    return dialogue;
}

void store_dialogue_guard(store_dialogue_t *dialogue,
                          const store_login_t *login, void *ctx, int is_locked)
{
    dialogue->login = login;
    dialogue->login_ctx = ctx;
    dialogue->is_locked = is_locked;
}

void store_dialogue_move(store_dialogue_t *dialogue, store_space_t *space,
                         store_counters_t *counters)
{
    dialogue->caller.space = space;
    dialogue->caller.counters = counters;
}

void store_dialogue_free(store_dialogue_t *dialogue)
{
    if (dialogue->item)
        store_value_end(dialogue);
    store_key_lock_free(&dialogue->caller);
    free(dialogue->prefix);
    free(dialogue);
}

size_t store_dialogue_line_max(void)
{
    return STORE_GET_LINE + 2;
}

int store_dialogue_is_over(const store_dialogue_t *dialogue)
{
    return dialogue->over;
}

unsigned store_dialogue_writes(store_dialogue_t *dialogue)
{
    unsigned n = dialogue->writes;

    dialogue->writes = 0;
    return n;
}

void store_dialogue_unconfirmed(store_dialogue_t *dialogue,
                                store_reply_t *reply, int goes_on)
{
    store_writes_refuse(dialogue, reply);
    dialogue->over |= !goes_on;
}

/* ---- values ---- */

static void stored(store_dialogue_t *dialogue, store_reply_t *reply)
{
    if (!store_writes_begin(dialogue))
        store_writes_refuse(dialogue, reply);
    else if (dialogue->asked == STORE_PROTOCOL_BINARY)
        store_binary_stored(dialogue, reply);
    else if (dialogue->asked == STORE_PROTOCOL_META)
        store_meta_stored(dialogue, reply);
    else
        store_text_stored(dialogue, reply);
    store_value_end(dialogue);
}

unsigned store_dialogue_room(store_dialogue_t *dialogue, struct iovec *iov,
                             unsigned n, size_t most)
{
    uint32_t at = dialogue->filled, room;
    store_place_t place;
    unsigned i;

    if (dialogue->phase != STORE_PHASE_VALUE)
        return 0;
    for (i = 0; i < n && most > 0 && at < dialogue->item->length; i++) {
        iov[i].iov_base =
            store_item_next_bytes(dialogue->caller.space, dialogue->item, at,
                                  &room, i == 0 ? &dialogue->place : &place);
        if (i == 0)
            place = dialogue->place;
        iov[i].iov_len = room < most ? room : most;
        at += room;
        most -= iov[i].iov_len;
    }
    return i;
}

void store_dialogue_filled(store_dialogue_t *dialogue, size_t n)
{
    dialogue->filled += (uint32_t)n;
}

/* ---- lines ---- */

/* A line that is too long ends the connection without a word, as in memcached,
 * unless it gets many keys. */
static int is_long_get(const char *line, size_t n)
{
    size_t spaces = 0;

    while (spaces < n && line[spaces] == ' ')
        spaces++;
    line += spaces;
    n -= spaces;
    return spaces <= 100 && n >= 5 &&
           (memcmp(line, "get ", 4) == 0 || memcmp(line, "gets ", 5) == 0);
}

static size_t line_limit(const char *line, size_t n)
{
    return is_long_get(line, n) ? STORE_GET_LINE : STORE_LINE;
}

/* @return the newline; NULL: it has not arrived, or the line is too long */
static const char *newline(store_dialogue_t *dialogue, const char *line,
                           size_t n, store_reply_t *reply)
{
    size_t known = dialogue->scanned < n ? dialogue->scanned : n;
    const char *end = memchr(line + known, '\n', n - known);
    size_t length = end ? (size_t)(end - line) : n;

    dialogue->scanned = length;
    /* The other keys of a line that gets many have been checked. */
    if (dialogue->phase == STORE_PHASE_COMMAND && length > STORE_LINE &&
        length > line_limit(line, length)) {
        if (length > STORE_GET_LINE)
            store_reply_copy(reply, "CLIENT_ERROR line too long\r\n", 28);
        dialogue->over = 1;
        return NULL;
    }
    return end;
}

/* memcached ends a line at its first NUL, and a lone CR is no end of line. */
static size_t line_length(const char *line, const char *end)
{
    size_t n = (size_t)(end - line);

    if (n > 1 && line[n - 1] == '\r')
        n--;
    return strnlen(line, n);
}

static size_t serve_line(store_dialogue_t *dialogue, const char *bytes,
                         size_t n, store_reply_t *reply)
{
    const char *end = newline(dialogue, bytes, n, reply);
    size_t length, used;

    if (!end)
        return 0;
    length = line_length(bytes, end);
    if (dialogue->phase == STORE_PHASE_COMMAND) {
        dialogue->quiet = 0;
        used = store_text_line(dialogue, bytes, length, reply);
    }
    else {
        used = store_text_get_more(dialogue, bytes, length, reply);
    }
    if (dialogue->phase == STORE_PHASE_GET) {
        dialogue->scanned = (size_t)(end - bytes) - used;
        return used;
    }
    dialogue->scanned = 0;
    return (size_t)(end - bytes) + 1;
}

/* ---- all ---- */

/* A command with much work counts as many. Else one client with long lines, or
 * with copies of large values, would take the worker from the others. */
static void spend(store_dialogue_t *dialogue, unsigned commands,
                  unsigned *budget)
{
    uint64_t cost =
        commands + dialogue->looked / KEYS + dialogue->copied / COPIED;

    dialogue->looked = 0;
    dialogue->copied = 0;
    *budget = cost < *budget ? *budget - (unsigned)cost : 0;
}

static store_protocol_t protocol_of(uint8_t first)
{
    switch (first) {
    case STORE_PACKET_REQUEST:
        return STORE_PROTOCOL_BINARY;
    case STORE_COUNTER_MAGIC:
        return STORE_PROTOCOL_COUNTER;
    default:
        return STORE_PROTOCOL_TEXT;
    }
}

static size_t serve_command(store_dialogue_t *dialogue, const char *bytes,
                            size_t n, store_reply_t *reply)
{
    switch (dialogue->protocol) {
    case STORE_PROTOCOL_BINARY:
        return store_binary_input(dialogue, bytes, n, reply);
    case STORE_PROTOCOL_COUNTER:
        return store_counter_gone(dialogue, bytes, n, reply);
    default:
        return serve_line(dialogue, bytes, n, reply);
    }
}

/* @return bytes that were used; 0: more are needed, or the dialogue is over */
static size_t serve(store_dialogue_t *dialogue, const char *bytes, size_t n,
                    store_reply_t *reply, unsigned *budget)
{
    size_t used;

    if (dialogue->phase == STORE_PHASE_SWALLOW ||
        dialogue->phase == STORE_PHASE_VALUE)
        return store_value_input(dialogue, bytes, n);
    if (n == 0)
        return 0;
    if (dialogue->protocol == STORE_PROTOCOL_NONE)
        dialogue->protocol = protocol_of((uint8_t)bytes[0]);
    if (store_login_is_next(dialogue, bytes, n))
        used = store_login_input(dialogue, bytes, n, reply);
    else {
        used = serve_command(dialogue, bytes, n, reply);
        dialogue->is_begun |= used > 0;
    }
    if (used > 0)
        spend(dialogue, dialogue->phase == STORE_PHASE_COMMAND, budget);
    return used;
}

static int value_is_complete(const store_dialogue_t *dialogue)
{
    return dialogue->phase == STORE_PHASE_VALUE &&
           store_value_is_complete(dialogue);
}

size_t store_dialogue_input(store_dialogue_t *dialogue, const char *bytes,
                            size_t n, store_reply_t *reply, unsigned *budget)
{
    size_t used = 0, now;

    while (*budget > 0 && !dialogue->over && !store_reply_failed(reply)) {
        if (store_reply_is_full(reply)) {
            *budget = 0;
            break;
        }
        if (dialogue->phase == STORE_PHASE_DUMP) {
            store_dump_slice(dialogue, reply);
            *budget = dialogue->phase == STORE_PHASE_DUMP ? 0 : *budget - 1;
            continue;
        }
        now = serve(dialogue, bytes + used, n - used, reply, budget);
        used += now;
        if (value_is_complete(dialogue)) {
            stored(dialogue, reply);
            spend(dialogue, 1, budget);
        }
        else if (now == 0)
            break;
    }
    return dialogue->over ? n : used;
}
