/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/command/value.h"

#include <string.h>

#include "store/memory/chunk.h"

static unsigned tail_length(store_protocol_t asked)
{
    return asked == STORE_PROTOCOL_BINARY ? 0 : 2;
}

/* Does it count among those that are sent at the same time? */
static bool is_large(uint64_t length)
{
    return length > STORE_LARGE;
}

static store_value_t make(store_session_t *session, const void *key,
                          uint8_t klen, uint32_t flags, uint32_t exptime,
                          uint64_t length)
{
    store_space_t *space = session->caller.space;

    if (length > session->server->max_object || length > store_item_max)
        return STORE_VALUE_TOO_LARGE;
    if (is_large(length) && !store_large_comes(space, (uint32_t)length))
        return STORE_VALUE_TOO_MANY;
    session->item =
        store_item_make(space, key, klen, flags, exptime, (uint32_t)length);
    if (session->item)
        return STORE_VALUE_BEGUN;
    if (is_large(length))
        store_large_has_come(space, (uint32_t)length);
    return STORE_VALUE_NO_MEMORY;
}

store_value_t store_value_begin(store_session_t *session,
                                store_protocol_t asked, const void *key,
                                uint8_t klen, uint32_t flags, uint32_t exptime,
                                uint64_t length, const store_update_t *update)
{
    store_value_t rv = make(session, key, klen, flags, exptime, length);

    if (rv != STORE_VALUE_BEGUN) {
        store_count(session->caller.counters,
                    rv == STORE_VALUE_TOO_LARGE ? STORE_TOO_LARGE_COUNT
                                                : STORE_NO_MEMORY_COUNT,
                    1);
        store_value_swallow(session, length + tail_length(asked));
        return rv;
    }
    session->asked = asked;
    session->update = *update;
    session->filled = 0;
    session->place = (store_place_t){0, 0};
    session->n_tail = 0;
    session->phase = STORE_PHASE_VALUE;
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

void store_value_swallow(store_session_t *session, uint64_t n)
{
    session->swallow = n;
    session->phase = n > 0 ? STORE_PHASE_SWALLOW : STORE_PHASE_COMMAND;
}

static size_t swallow(store_session_t *session, size_t n)
{
    if (n > session->swallow)
        n = (size_t)session->swallow;
    session->swallow -= n;
    if (session->swallow == 0)
        session->phase = STORE_PHASE_COMMAND;
    return n;
}

size_t store_value_input(store_session_t *session, const char *bytes, size_t n)
{
    size_t value, tail;

    if (session->phase == STORE_PHASE_SWALLOW)
        return swallow(session, n);
    value = session->item->length - session->filled;
    if (value > n)
        value = n;
    if (value > 0)
        store_item_write(session->caller.space, session->item, session->filled,
                         bytes, (uint32_t)value);
    session->filled += (uint32_t)value;
    if (session->filled < session->item->length)
        return value;
    tail = tail_length(session->asked) - session->n_tail;
    if (tail > n - value)
        tail = n - value;
    memcpy(session->tail + session->n_tail, bytes + value, tail);
    session->n_tail += (uint8_t)tail;
    return value + tail;
}

bool store_value_is_complete(const store_session_t *session)
{
    return session->filled == session->item->length &&
           session->n_tail == tail_length(session->asked);
}

bool store_value_is_sound(const store_session_t *session)
{
    return memcmp(session->tail, "\r\n", 2) == 0;
}

void store_value_end(store_session_t *session)
{
    store_space_t *space = session->caller.space;

    if (is_large(session->item->length))
        store_large_has_come(space, session->item->length);
    store_item_release(space, session->item);
    session->item = NULL;
    session->phase = STORE_PHASE_COMMAND;
}
