/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/command/text_get.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "store/clock.h"
#include "store/command/answer.h"
#include "store/command/writes.h"

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

static void add_value(const store_session_t *session, store_reply_t *reply,
                      store_item_t *item)
{
    char head[STORE_KEY_MAX + 80], *at = head;

    memcpy(at, "VALUE ", 6);
    memcpy(at + 6, store_item_key(item), item->klen);
    at = number(at + 6 + item->klen, item->flags);
    at = number(at, item->length);
    if (session->get_cas)
        at = number(at, item->cas);
    memcpy(at, "\r\n", 2);
    store_reply_copy(reply, head, (size_t)(at + 2 - head));
    store_reply_value(reply, session->caller.space, item);
    store_reply_copy(reply, "\r\n", 2);
}

static void get_key(const store_session_t *session, store_token_t key,
                    store_reply_t *reply)
{
    store_fetch_t fetch = {.touch = session->get_touch,
                           .exptime = session->get_exptime};
    store_item_t *item =
        store_verbs_fetch(&session->caller, key.at, (uint8_t)key.n, &fetch);

    if (item == NULL)
        return;
    add_value(session, reply, item);
    store_item_release(session->caller.space, item);
}

size_t store_text_get_more(store_session_t *session, const char *line, size_t n,
                           store_reply_t *reply)
{
    const char *at = line, *end = line + n;

    for (;;) {
        store_token_t key = store_token_next(&at, end);

        if (key.n == 0) {
            store_reply_copy(reply, "END\r\n", 5);
            session->phase = STORE_PHASE_COMMAND;
            return n;
        }
        if (store_reply_is_full(reply) || session->looked == STORE_GET_SLICE) {
            session->phase = STORE_PHASE_GET;
            return (size_t)(key.at - line);
        }
        get_key(session, key, reply);
        session->looked++;
    }
}

static bool keys_are_good(const char *at, const char *end)
{
    store_token_t key;

    do {
        key = store_token_next(&at, end);
        if (key.n > STORE_KEY_MAX)
            return false;
    } while (key.n > 0);
    return true;
}

/* @return the answer to an error; NULL: there is none */
static const char *check(store_session_t *session, const char **rest,
                         const char *end)
{
    const char *at = *rest;
    store_token_t word = store_token_next(&at, end);
    int32_t exptime;

    if (word.n == 0)
        return "ERROR";
    if (session->get_touch) {
        if (!store_token_i32(word, &exptime))
            return "CLIENT_ERROR invalid exptime argument";
        session->get_exptime = store_clock_exptime(exptime);
        *rest = at;
    }
    return keys_are_good(*rest, end) ? NULL
                                     : "CLIENT_ERROR bad command line format";
}

bool store_text_get(store_session_t *session, store_token_t name,
                    const char *rest, const char *end, store_reply_t *reply,
                    size_t *used)
{
    const char *keys = rest, *wrong;

    if (!store_token_is(name, "get") && !store_token_is(name, "gets") &&
        !store_token_is(name, "gat") && !store_token_is(name, "gats") &&
        !store_token_is(name, "bget"))
        return false;
    session->get_cas = name.at[name.n - 1] == 's';
    session->get_touch = name.at[0] == 'g' && name.at[1] == 'a';
    wrong = check(session, &keys, end);
    if (wrong) {
        store_answer_error(reply, wrong);
        *used = (size_t)(end - rest);
    }
    else if (session->get_touch && !store_writes_begin(session)) {
        store_writes_refuse(session, reply);
        *used = (size_t)(end - rest);
    }
    else {
        *used = (size_t)(keys - rest) +
                store_text_get_more(session, keys, (size_t)(end - keys), reply);
    }
    return true;
}
