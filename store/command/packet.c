/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/command/packet.h"

#include <string.h>

bool store_packet_read(store_session_t *session, const char *bytes, size_t n)
{
    if ((uint8_t)bytes[0] != STORE_PACKET_REQUEST) {
        session->over = true;
        return false;
    }
    if (n < STORE_PACKET_HEAD)
        return false;
    store_packet_head_get(&session->head, bytes);
    return true;
}

void store_packet_fill(const store_session_t *session, char *to,
                       unsigned status, uint8_t extras_length,
                       uint16_t key_length, uint32_t body_length, uint64_t cas)
{
    store_packet_head_t head = {.magic = STORE_PACKET_RESPONSE,
                                .opcode = session->head.opcode,
                                .extras_length = extras_length,
                                .key_length = key_length,
                                .status = (uint16_t)status,
                                .body_length = body_length,
                                .opaque = session->head.opaque,
                                .cas = cas};

    store_packet_head_put(&head, to);
}

void store_packet_head(const store_session_t *session, store_reply_t *reply,
                       unsigned status, uint8_t extras_length,
                       uint16_t key_length, uint32_t body_length, uint64_t cas)
{
    char head[STORE_PACKET_HEAD];

    store_packet_fill(session, head, status, extras_length, key_length,
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

void store_packet_error(const store_session_t *session, store_reply_t *reply,
                        unsigned status, const char *words)
{
    const char *text = words ? words : words_of(status);

    store_packet_head(session, reply, status, 0, 0, (uint32_t)strlen(text), 0);
    store_reply_copy(reply, text, strlen(text));
}

void store_packet_done(const store_session_t *session, store_reply_t *reply,
                       const char *body, uint32_t n, uint64_t cas)
{
    if (session->quiet)
        return;
    store_packet_head(session, reply, STORE_STATUS_OK, 0, 0, n, cas);
    store_reply_copy(reply, body, n);
}
