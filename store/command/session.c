/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/command/session.h"

#include <stdlib.h>
#include <string.h>

#include "store/command/binary.h"
#include "store/command/dump.h"
#include "store/command/login.h"
#include "store/command/meta.h"
#include "store/command/state.h"
#include "store/command/text.h"
#include "store/command/verbs.h"

/* Work that is as much as one command. */
#define KEYS   16        /* of a line that gets many */
#define COPIED (1 << 14) /* bytes of values */

store_session_t *store_session_make(store_space_t *space,
                                    store_counters_t *counters,
                                    const store_server_t *server)
{
    store_session_t *session = calloc(1, sizeof *session);

    if (session) {
        session->caller = (store_caller_t){space, counters, &session->copied,
                                           &session->locks};
        session->server = server;
    }
    return session;
}

void store_session_guard(store_session_t *session, const store_login_t *login,
                         void *ctx, int is_locked)
{
    session->login = login;
    session->login_ctx = ctx;
    session->is_locked = is_locked;
}

void store_session_move(store_session_t *session, store_space_t *space,
                        store_counters_t *counters)
{
    session->caller.space = space;
    session->caller.counters = counters;
}

void store_session_free(store_session_t *session)
{
    if (session->item)
        store_value_end(session);
    store_key_lock_free(&session->caller);
    free(session->prefix);
    free(session);
}

size_t store_session_line_max(void)
{
    return STORE_GET_LINE + 2;
}

int store_session_is_over(const store_session_t *session)
{
    return session->over;
}

unsigned store_session_writes(store_session_t *session)
{
    unsigned n = session->writes;

    session->writes = 0;
    return n;
}

void store_session_unconfirmed(store_session_t *session, store_reply_t *reply,
                               int goes_on)
{
    store_writes_refuse(session, reply);
    session->over |= !goes_on;
}

/* ---- values ---- */

static void stored(store_session_t *session, store_reply_t *reply)
{
    if (!store_writes_begin(session))
        store_writes_refuse(session, reply);
    else if (session->asked == STORE_PROTOCOL_BINARY)
        store_binary_stored(session, reply);
    else if (session->asked == STORE_PROTOCOL_META)
        store_meta_stored(session, reply);
    else
        store_text_stored(session, reply);
    store_value_end(session);
}

unsigned store_session_room(store_session_t *session, struct iovec *iov,
                            unsigned n, size_t most)
{
    uint32_t at = session->filled, room;
    store_place_t place;
    unsigned i;

    if (session->phase != STORE_PHASE_VALUE)
        return 0;
    for (i = 0; i < n && most > 0 && at < session->item->length; i++) {
        iov[i].iov_base =
            store_item_next_bytes(session->caller.space, session->item, at,
                                  &room, i == 0 ? &session->place : &place);
        if (i == 0)
            place = session->place;
        iov[i].iov_len = room < most ? room : most;
        at += room;
        most -= iov[i].iov_len;
    }
    return i;
}

void store_session_filled(store_session_t *session, size_t n)
{
    session->filled += (uint32_t)n;
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
static const char *newline(store_session_t *session, const char *line, size_t n,
                           store_reply_t *reply)
{
    size_t known = session->scanned < n ? session->scanned : n;
    const char *end = memchr(line + known, '\n', n - known);
    size_t length = end ? (size_t)(end - line) : n;

    session->scanned = length;
    /* The other keys of a line that gets many have been checked. */
    if (session->phase == STORE_PHASE_COMMAND && length > STORE_LINE &&
        length > line_limit(line, length)) {
        if (length > STORE_GET_LINE)
            store_reply_copy(reply, "CLIENT_ERROR line too long\r\n", 28);
        session->over = 1;
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

static size_t serve_line(store_session_t *session, const char *bytes, size_t n,
                         store_reply_t *reply)
{
    const char *end = newline(session, bytes, n, reply);
    size_t length, used;

    if (!end)
        return 0;
    length = line_length(bytes, end);
    if (session->phase == STORE_PHASE_COMMAND) {
        session->quiet = 0;
        used = store_text_line(session, bytes, length, reply);
    }
    else {
        used = store_text_get_more(session, bytes, length, reply);
    }
    if (session->phase == STORE_PHASE_GET) {
        session->scanned = (size_t)(end - bytes) - used;
        return used;
    }
    session->scanned = 0;
    return (size_t)(end - bytes) + 1;
}

/* ---- all ---- */

/* A command with much work counts as many. Else one client with long lines, or
 * with copies of large values, would take the worker from the others. */
static void spend(store_session_t *session, unsigned commands, unsigned *budget)
{
    uint64_t cost =
        commands + session->looked / KEYS + session->copied / COPIED;

    session->looked = 0;
    session->copied = 0;
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

static size_t serve_command(store_session_t *session, const char *bytes,
                            size_t n, store_reply_t *reply)
{
    switch (session->protocol) {
    case STORE_PROTOCOL_BINARY:
        return store_binary_input(session, bytes, n, reply);
    case STORE_PROTOCOL_COUNTER:
        return store_counter_gone(session, bytes, n, reply);
    default:
        return serve_line(session, bytes, n, reply);
    }
}

/* @return bytes that were used; 0: more are needed, or the session is over */
static size_t serve(store_session_t *session, const char *bytes, size_t n,
                    store_reply_t *reply, unsigned *budget)
{
    size_t used;

    if (session->phase == STORE_PHASE_SWALLOW ||
        session->phase == STORE_PHASE_VALUE)
        return store_value_input(session, bytes, n);
    if (n == 0)
        return 0;
    if (session->protocol == STORE_PROTOCOL_NONE)
        session->protocol = protocol_of((uint8_t)bytes[0]);
    if (store_login_is_next(session, bytes, n))
        used = store_login_input(session, bytes, n, reply);
    else {
        used = serve_command(session, bytes, n, reply);
        session->is_begun |= used > 0;
    }
    if (used > 0)
        spend(session, session->phase == STORE_PHASE_COMMAND, budget);
    return used;
}

static int value_is_complete(const store_session_t *session)
{
    return session->phase == STORE_PHASE_VALUE &&
           store_value_is_complete(session);
}

size_t store_session_input(store_session_t *session, const char *bytes,
                           size_t n, store_reply_t *reply, unsigned *budget)
{
    size_t used = 0, now;

    while (*budget > 0 && !session->over && !store_reply_failed(reply)) {
        if (store_reply_is_full(reply)) {
            *budget = 0;
            break;
        }
        if (session->phase == STORE_PHASE_DUMP) {
            store_dump_slice(session, reply);
            *budget = session->phase == STORE_PHASE_DUMP ? 0 : *budget - 1;
            continue;
        }
        now = serve(session, bytes + used, n - used, reply, budget);
        used += now;
        if (value_is_complete(session)) {
            stored(session, reply);
            spend(session, 1, budget);
        }
        else if (now == 0)
            break;
    }
    return session->over ? n : used;
}
