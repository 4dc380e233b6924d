/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/protocol/dialogue_state.h"

#include <string.h>

#include "store/memory/chunk.h"

/* ---- answers ---- */

void store_answer_error(store_reply_t *reply, const char *line)
{
    store_reply_copy(reply, line, strlen(line));
    store_reply_copy(reply, "\r\n", 2);
}

void store_answer(const store_dialogue_t *dialogue, store_reply_t *reply,
                  const char *line)
{
    if (!dialogue->quiet)
        store_answer_error(reply, line);
}

/* ---- packets ---- */

int store_packet_read(store_dialogue_t *dialogue, const char *bytes, size_t n)
{
    if ((uint8_t)bytes[0] != STORE_PACKET_REQUEST) {
        dialogue->over = 1;
        return 0;
    }
    if (n < STORE_PACKET_HEAD)
        return 0;
    store_packet_head_get(&dialogue->head, bytes);
    return 1;
}

void store_packet_fill(const store_dialogue_t *dialogue, char *to,
                       unsigned status, uint8_t extras_length,
                       uint16_t key_length, uint32_t body_length, uint64_t cas)
{
    store_packet_head_t head = {.magic = STORE_PACKET_RESPONSE,
                                .opcode = dialogue->head.opcode,
                                .extras_length = extras_length,
                                .key_length = key_length,
                                .status = (uint16_t)status,
                                .body_length = body_length,
                                .opaque = dialogue->head.opaque,
                                .cas = cas};

    store_packet_head_put(&head, to);
}

void store_packet_head(const store_dialogue_t *dialogue, store_reply_t *reply,
                       unsigned status, uint8_t extras_length,
                       uint16_t key_length, uint32_t body_length, uint64_t cas)
{
    char head[STORE_PACKET_HEAD];

    store_packet_fill(dialogue, head, status, extras_length, key_length,
                      body_length, cas);
    store_reply_copy(reply, head, sizeof head);
}

static const char *words_of(unsigned status)
{
    switch (status) {
    case STORE_STATUS_NOT_FOUND:
        return "Not found";
    case STORE_STATUS_EXISTS:
        return "Data exists for key.";
    case STORE_STATUS_TOO_LARGE:
        return "Too large.";
    case STORE_STATUS_INVALID:
        return "Invalid arguments";
    case STORE_STATUS_NOT_STORED:
        return "Not stored.";
    case STORE_STATUS_NOT_NUMERIC:
        return "Non-numeric server-side value for incr or decr";
    case STORE_STATUS_LOCKED:
        return "Locked";
    case STORE_STATUS_NOT_LOCKED:
        return "Not locked";
    case STORE_STATUS_AUTH:
        return "Auth failure.";
    case STORE_STATUS_NO_MEMORY:
        return "Out of memory";
    default:
        return "Unknown command";
    }
}

void store_packet_error(const store_dialogue_t *dialogue, store_reply_t *reply,
                        unsigned status, const char *words)
{
    const char *text = words ? words : words_of(status);

    store_packet_head(dialogue, reply, status, 0, 0, (uint32_t)strlen(text), 0);
    store_reply_copy(reply, text, strlen(text));
}

void store_packet_done(const store_dialogue_t *dialogue, store_reply_t *reply,
                       const char *body, uint32_t n, uint64_t cas)
{
    if (dialogue->quiet)
        return;
    store_packet_head(dialogue, reply, STORE_STATUS_OK, 0, 0, n, cas);
    store_reply_copy(reply, body, n);
}

/* ---- yrmcds' counters, which the store has not ---- */

#define COUNTER_RESPONSE 0x91
#define COUNTER_HEAD     12 /* bytes */

static const char no_counters[] =
    "this store has no counters: use lock, or incr";

size_t store_counter_gone(store_dialogue_t *dialogue, const char *bytes,
                          size_t n, store_reply_t *reply)
{
    unsigned char head[COUNTER_HEAD] = {0};

    if (n < COUNTER_HEAD)
        return 0;
    memcpy(head, bytes, COUNTER_HEAD);
    head[0] = COUNTER_RESPONSE;
    head[2] = STORE_STATUS_UNKNOWN;
    head[3] = head[4] = head[5] = head[6] = 0;
    head[7] = sizeof no_counters - 1;
    store_reply_copy(reply, head, COUNTER_HEAD);
    store_reply_copy(reply, no_counters, sizeof no_counters - 1);
    dialogue->over = 1;
    return n;
}

/* ---- writes ---- */

#define UNCONFIRMED "not confirmed by a slave"

int store_writes_begin(store_dialogue_t *dialogue)
{
    if (STORE_GET(dialogue->caller.space->confirm) == STORE_CONFIRM_REFUSE &&
        !(dialogue->server->can_confirm && dialogue->server->can_confirm())) {
        store_count(dialogue->caller.counters, STORE_NOT_CONFIRMED, 1);
        return 0;
    }
    dialogue->writes++;
    return 1;
}

void store_writes_refuse(const store_dialogue_t *dialogue, store_reply_t *reply)
{
    if (dialogue->protocol == STORE_PROTOCOL_BINARY)
        store_packet_error(dialogue, reply, STORE_STATUS_TEMPORARY,
                           UNCONFIRMED);
    else
        store_answer(dialogue, reply, "SERVER_ERROR " UNCONFIRMED);
}

/* ---- the value of a command that stores ---- */

static unsigned tail_length(store_protocol_t asked)
{
    return asked == STORE_PROTOCOL_BINARY ? 0 : 2;
}

/* Does it count among those that are sent at the same time? */
static int is_large(uint64_t length)
{
    return length > STORE_LARGE;
}

static store_value_t make(store_dialogue_t *dialogue, const void *key,
                          uint8_t klen, uint32_t flags, uint32_t exptime,
                          uint64_t length)
{
    store_space_t *space = dialogue->caller.space;

    if (length > dialogue->server->max_object || length > store_item_max)
        return STORE_VALUE_TOO_LARGE;
    if (is_large(length) && !store_large_comes(space, (uint32_t)length))
        return STORE_VALUE_TOO_MANY;
    dialogue->item =
        store_item_make(space, key, klen, flags, exptime, (uint32_t)length);
    if (dialogue->item)
        return STORE_VALUE_BEGUN;
    if (is_large(length))
        store_large_has_come(space, (uint32_t)length);
    return STORE_VALUE_NO_MEMORY;
}

store_value_t store_value_begin(store_dialogue_t *dialogue,
                                store_protocol_t asked, const void *key,
                                uint8_t klen, uint32_t flags, uint32_t exptime,
                                uint64_t length, const store_update_t *update)
{
    store_value_t rv = make(dialogue, key, klen, flags, exptime, length);

    if (rv != STORE_VALUE_BEGUN) {
        store_count(dialogue->caller.counters,
                    rv == STORE_VALUE_TOO_LARGE ? STORE_TOO_LARGE_COUNT
                                                : STORE_NO_MEMORY_COUNT,
                    1);
        store_value_swallow(dialogue, length + tail_length(asked));
        return rv;
    }
    dialogue->asked = asked;
    dialogue->update = *update;
    dialogue->filled = 0;
    dialogue->place = (store_place_t){0, 0};
    dialogue->n_tail = 0;
    dialogue->phase = STORE_PHASE_VALUE;
    return STORE_VALUE_BEGUN;
}

const char *store_value_why(store_value_t why)
{
    switch (why) {
    case STORE_VALUE_TOO_LARGE:
        return "SERVER_ERROR object too large for cache";
    case STORE_VALUE_TOO_MANY:
        return "SERVER_ERROR too many large values at a time";
    default:
        return "SERVER_ERROR out of memory storing object";
    }
}

void store_value_swallow(store_dialogue_t *dialogue, uint64_t n)
{
    dialogue->swallow = n;
    dialogue->phase = n > 0 ? STORE_PHASE_SWALLOW : STORE_PHASE_COMMAND;
}

static size_t swallow(store_dialogue_t *dialogue, size_t n)
{
    if (n > dialogue->swallow)
        n = (size_t)dialogue->swallow;
    dialogue->swallow -= n;
    if (dialogue->swallow == 0)
        dialogue->phase = STORE_PHASE_COMMAND;
    return n;
}

size_t store_value_input(store_dialogue_t *dialogue, const char *bytes,
                         size_t n)
{
    size_t value, tail;

    if (dialogue->phase == STORE_PHASE_SWALLOW)
        return swallow(dialogue, n);
    value = dialogue->item->length - dialogue->filled;
    if (value > n)
        value = n;
    if (value > 0)
        store_item_write(dialogue->caller.space, dialogue->item,
                         dialogue->filled, bytes, (uint32_t)value);
    dialogue->filled += (uint32_t)value;
    if (dialogue->filled < dialogue->item->length)
        return value;
    tail = tail_length(dialogue->asked) - dialogue->n_tail;
    if (tail > n - value)
        tail = n - value;
    memcpy(dialogue->tail + dialogue->n_tail, bytes + value, tail);
    dialogue->n_tail += (uint8_t)tail;
    return value + tail;
}

int store_value_is_complete(const store_dialogue_t *dialogue)
{
    return dialogue->filled == dialogue->item->length &&
           dialogue->n_tail == tail_length(dialogue->asked);
}

int store_value_is_sound(const store_dialogue_t *dialogue)
{
    return memcmp(dialogue->tail, "\r\n", 2) == 0;
}

void store_value_end(store_dialogue_t *dialogue)
{
    store_space_t *space = dialogue->caller.space;

    if (is_large(dialogue->item->length))
        store_large_has_come(space, dialogue->item->length);
    store_item_release(space, dialogue->item);
    dialogue->item = NULL;
    dialogue->phase = STORE_PHASE_COMMAND;
}
