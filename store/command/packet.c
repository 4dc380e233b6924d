/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/command/packet.h"

#include <arpa/inet.h>
#include <endian.h>
#include <string.h>

uint16_t store_packet_u16(const char *at)
{
    uint16_t n;

    memcpy(&n, at, sizeof n);
    return ntohs(n);
}

uint32_t store_packet_u32(const char *at)
{
    uint32_t n;

    memcpy(&n, at, sizeof n);
    return ntohl(n);
}

uint64_t store_packet_u64(const char *at)
{
    uint64_t n;

    memcpy(&n, at, sizeof n);
    return be64toh(n);
}

void store_packet_put_u32(char *at, uint32_t n)
{
    n = htonl(n);
    memcpy(at, &n, sizeof n);
}

void store_packet_put_u64(char *at, uint64_t n)
{
    n = htobe64(n);
    memcpy(at, &n, sizeof n);
}

bool store_packet_read(store_session_t *session, const char *bytes, size_t n)
{
    store_binary_head_t *head = &session->head;

    if ((uint8_t)bytes[0] != STORE_BINARY_REQUEST) {
        session->over = true;
        return false;
    }
    if (n < STORE_PACKET_HEAD)
        return false;
    head->opcode = (uint8_t)bytes[1];
    head->key_length = store_packet_u16(bytes + 2);
    head->extras_length = (uint8_t)bytes[4];
    head->body_length = store_packet_u32(bytes + 8);
    memcpy(&head->opaque, bytes + 12, sizeof head->opaque);
    head->cas = store_packet_u64(bytes + 16);
    return true;
}

void store_packet_fill(const store_session_t *session, char *head,
                       unsigned status, uint8_t extras_length,
                       uint16_t key_length, uint32_t body_length, uint64_t cas)
{
    memset(head, 0, STORE_PACKET_HEAD);
    head[0] = (char)STORE_BINARY_RESPONSE;
    head[1] = (char)session->head.opcode;
    head[2] = (char)(key_length >> 8);
    head[3] = (char)key_length;
    head[4] = (char)extras_length;
    head[6] = (char)(status >> 8);
    head[7] = (char)status;
    store_packet_put_u32(head + 8, body_length);
    memcpy(head + 12, &session->head.opaque, 4);
    store_packet_put_u64(head + 16, cas);
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
