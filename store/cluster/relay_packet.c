/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/relay_packet.h"

size_t store_relay_packet_put(const char *name,
                              unsigned char to[STORE_RELAY_PACKET])
{
    size_t n = strlen(name);
    store_packet_head_t head = {.magic = STORE_PACKET_REQUEST,
                                .opcode = STORE_RELAY_SPACE,
                                .key_length = (uint16_t)n,
                                .body_length = (uint32_t)n};

    store_packet_head_put(&head, to);
    memcpy(to + STORE_PACKET_HEAD, name, n);
    return STORE_PACKET_HEAD + n;
}

size_t store_relay_packet_size(const unsigned char bytes[STORE_PACKET_HEAD])
{
    store_packet_head_t head;
    size_t klen;

    store_packet_head_get(&head, bytes);
    klen = head.key_length;
    return head.magic == STORE_PACKET_REQUEST &&
                   head.opcode == STORE_RELAY_SPACE &&
                   head.extras_length == 0 && klen > 0 && klen < STORE_NAME &&
                   head.body_length == klen
               ? STORE_PACKET_HEAD + klen
               : 0;
}

void store_relay_packet_name(const unsigned char *packet, size_t size,
                             char name[STORE_NAME])
{
    memset(name, 0, STORE_NAME);
    memcpy(name, packet + STORE_PACKET_HEAD, size - STORE_PACKET_HEAD);
}

void store_relay_packet_reply(const unsigned char *packet, int is_known,
                              unsigned char to[STORE_PACKET_HEAD])
{
    store_packet_head_t request,
        head = {.magic = STORE_PACKET_RESPONSE, .opcode = STORE_RELAY_SPACE};

    store_packet_head_get(&request, packet);
    head.status = is_known ? STORE_STATUS_OK : STORE_STATUS_NOT_FOUND;
    head.opaque = request.opaque;
    store_packet_head_put(&head, to);
}
