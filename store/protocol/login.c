/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/protocol/protocols.h"

#include <string.h>

#include "store/protocol/dialogue_state.h"
#include "store/protocol/token.h"

#define BODY_MAX 2048 /* bytes of a login */
#define PLAIN    "PLAIN"

int store_login_is_next(const store_dialogue_t *dialogue, const char *bytes,
                        size_t n)
{
    uint8_t opcode;

    if (!dialogue->login)
        return 0;
    if (dialogue->is_locked)
        return 1;
    if (dialogue->protocol != STORE_PROTOCOL_BINARY || n < 2)
        return 0;
    opcode = (uint8_t)bytes[1];
    return opcode >= STORE_OP_SASL_LIST && opcode <= STORE_OP_SASL_STEP;
}

/* A client that has served itself from a space stays there: replies that are
 * not sent yet refer to its items. */
static int may_move(const store_dialogue_t *dialogue, store_token_t user)
{
    return !dialogue->is_begun ||
           store_token_is(user, dialogue->caller.space->name);
}

static int log_in(store_dialogue_t *dialogue, store_token_t user,
                  store_token_t password)
{
    if (!may_move(dialogue, user) ||
        !dialogue->login->log_in(dialogue->login_ctx, user.at, user.n,
                                 password.at, password.n))
        return 0;
    dialogue->is_locked = 0;
    return 1;
}

/* ---- text ---- */

/* A space may have blanks in its name, and a password has none. */
static int log_in_text(store_dialogue_t *dialogue, const char *text, size_t n)
{
    const char *blank = memrchr(text, ' ', n);

    if (!blank)
        return 0;
    return log_in(dialogue, (store_token_t){text, (size_t)(blank - text)},
                  (store_token_t){blank + 1, (size_t)(text + n - blank - 1)});
}

static void serve_text(store_dialogue_t *dialogue, const char *value,
                       uint32_t n, store_reply_t *reply)
{
    dialogue->quiet = 0;
    if (memcmp(value + n, "\r\n", 2) != 0)
        store_answer(dialogue, reply,
                     "CLIENT_ERROR bad command line termination");
    else if (log_in_text(dialogue, value, n))
        store_answer(dialogue, reply, "STORED");
    else
        store_answer(dialogue, reply, "CLIENT_ERROR authentication failure");
}

static size_t text_input(store_dialogue_t *dialogue, const char *bytes,
                         size_t n, store_reply_t *reply)
{
    const char *end = memchr(bytes, '\n', n);
    size_t line = end ? (size_t)(end - bytes) + 1 : n;
    store_tokens_t tokens;
    uint32_t length = 0;

    if (line > STORE_LINE) {
        dialogue->over = 1;
        return 0;
    }
    if (!end)
        return 0;
    store_token_split(&tokens, bytes,
                      line - 1 - (line > 1 && bytes[line - 2] == '\r'));
    dialogue->quiet = 0;
    if (tokens.n < 5 || !store_token_is(tokens.word[0], "set") ||
        !store_token_u32(tokens.word[4], &length) || length > BODY_MAX) {
        store_answer(dialogue, reply, "CLIENT_ERROR unauthenticated");
        return line;
    }
    if (n < line + length + 2)
        return 0;
    serve_text(dialogue, bytes + line, length, reply);
    return line + length + 2;
}

/* ---- binary ---- */

/* The message of PLAIN: another name, NUL, user, NUL, password. */
static int log_in_plain(store_dialogue_t *dialogue, store_token_t mechanism,
                        const char *text, size_t n)
{
    const char *end = text + n;
    const char *first = memchr(text, 0, n), *second;

    if (!store_token_is(mechanism, PLAIN) || !first)
        return 0;
    second = memchr(first + 1, 0, (size_t)(end - first) - 1);
    if (!second)
        return 0;
    return log_in(dialogue,
                  (store_token_t){first + 1, (size_t)(second - first) - 1},
                  (store_token_t){second + 1, (size_t)(end - second) - 1});
}

static void refuse(store_dialogue_t *dialogue, store_reply_t *reply)
{
    store_packet_error(dialogue, reply, STORE_STATUS_AUTH, NULL);
}

static void serve_binary(store_dialogue_t *dialogue, const char *body,
                         store_reply_t *reply)
{
    const store_packet_head_t *head = &dialogue->head;
    store_token_t key = {body + head->extras_length, head->key_length};
    size_t before = (size_t)head->extras_length + head->key_length;

    switch (head->opcode) {
    case STORE_OP_SASL_LIST:
        store_packet_done(dialogue, reply, PLAIN, sizeof PLAIN - 1, 0);
        break;
    case STORE_OP_SASL_AUTH:
        if (log_in_plain(dialogue, key, body + before,
                         head->body_length - before))
            store_packet_done(dialogue, reply, "Authenticated", 13, 0);
        else
            refuse(dialogue, reply);
        break;
    case STORE_OP_VERSION:
        store_packet_done(dialogue, reply, STORE_SENT_VERSION,
                          sizeof STORE_SENT_VERSION - 1, 0);
        break;
    default:
        refuse(dialogue, reply);
        dialogue->over = head->opcode != STORE_OP_SASL_STEP;
        break;
    }
}

static size_t binary_input(store_dialogue_t *dialogue, const char *bytes,
                           size_t n, store_reply_t *reply)
{
    store_packet_head_t *head = &dialogue->head;

    dialogue->quiet = 0;
    if (!store_packet_read(dialogue, bytes, n))
        return 0;
    if (head->body_length > BODY_MAX ||
        (size_t)head->extras_length + head->key_length > head->body_length) {
        refuse(dialogue, reply);
        dialogue->over = 1;
        return 0;
    }
    if (n < STORE_PACKET_HEAD + head->body_length)
        return 0;
    serve_binary(dialogue, bytes + STORE_PACKET_HEAD, reply);
    return STORE_PACKET_HEAD + head->body_length;
}

size_t store_login_input(store_dialogue_t *dialogue, const char *bytes,
                         size_t n, store_reply_t *reply)
{
    switch (dialogue->protocol) {
    case STORE_PROTOCOL_BINARY:
        return binary_input(dialogue, bytes, n, reply);
    case STORE_PROTOCOL_COUNTER: /* it has no login */
        return store_counter_gone(dialogue, bytes, n, reply);
    default:
        return text_input(dialogue, bytes, n, reply);
    }
}
