/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/command/value.h"

#include <string.h>

static unsigned tail_length(store_protocol_t asked)
{
    return asked == STORE_PROTOCOL_BINARY ? 0 : 2;
}

store_value_t store_value_begin(store_session_t *session,
                                store_protocol_t asked, const void *key,
                                uint8_t klen, uint32_t flags, uint32_t exptime,
                                uint64_t length, const store_update_t *update)
{
    store_value_t rv = STORE_VALUE_TOO_LARGE;

    session->item = NULL;
    if (length <= session->server->max_object && length <= store_item_max) {
        session->item = store_item_make(session->caller.space, key, klen, flags,
                                        exptime, (uint32_t)length);
        rv = STORE_VALUE_NO_MEMORY;
    }
    if (session->item == NULL) {
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
    store_item_release(session->caller.space, session->item);
    session->item = NULL;
    session->phase = STORE_PHASE_COMMAND;
}
