/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/wire.h"

#include <string.h>

/* What a packet of each kind has. */
typedef struct {
    uint8_t extras; /* bytes */
    uint8_t key_min, key_max;
    uint32_t value_max;
} form_t;

static const form_t *form_of(uint8_t opcode)
{
    static const form_t set = {8, 1, STORE_KEY_MAX, STORE_WIRE_VALUE_MAX},
                        delete = {0, 1, STORE_KEY_MAX, 0},
                        touch = {4, 1, STORE_KEY_MAX, 0},
                        hello = {12, 0, 0, STORE_WIRE_HELLO_MAX},
                        space = {12, 1, STORE_NAME - 1, 0},
                        complete = {0, 0, 0, 0}, bye = {0, 0, 0, 0},
                        flushed = {8, 0, 0, 0}, mark = {12, 0, 0, 0};

    switch (opcode) {
    case STORE_WIRE_SET:
        return &set;
    case STORE_WIRE_DELETE:
        return &delete;
    case STORE_WIRE_TOUCH:
        return &touch;
    case STORE_WIRE_HELLO:
        return &hello;
    case STORE_WIRE_SPACE:
        return &space;
    case STORE_WIRE_COMPLETE:
        return &complete;
    case STORE_WIRE_FLUSHED:
        return &flushed;
    case STORE_WIRE_MARK:
        return &mark;
    case STORE_WIRE_BYE:
        return &bye;
    default:
        return NULL;
    }
}

static void put_extras(const store_packet_t *p, unsigned char *to)
{
    switch (p->opcode) {
    case STORE_WIRE_SET:
        store_net_put32(to, p->flags);
        store_net_put32(to + 4, p->exptime);
        break;
    case STORE_WIRE_TOUCH:
        store_net_put32(to, p->exptime);
        break;
    case STORE_WIRE_HELLO:
        store_net_put32(to, p->version);
        store_net_put64(to + 4, p->number);
        break;
    case STORE_WIRE_SPACE:
        store_net_put64(to, p->number);
        store_net_put32(to + 8, p->exptime);
        break;
    case STORE_WIRE_FLUSHED:
        store_net_put64(to, p->number);
        break;
    case STORE_WIRE_MARK:
        store_net_put64(to, p->number);
        store_net_put32(to + 8, p->clock);
        break;
    default:
        break;
    }
}

static void get_extras(store_packet_t *p, const unsigned char *from)
{
    switch (p->opcode) {
    case STORE_WIRE_SET:
        p->flags = store_net_get32(from);
        p->exptime = store_net_get32(from + 4);
        break;
    case STORE_WIRE_TOUCH:
        p->exptime = store_net_get32(from);
        break;
    case STORE_WIRE_HELLO:
        p->version = store_net_get32(from);
        p->number = store_net_get64(from + 4);
        break;
    case STORE_WIRE_SPACE:
        p->number = store_net_get64(from);
        p->exptime = store_net_get32(from + 8);
        break;
    case STORE_WIRE_FLUSHED:
        p->number = store_net_get64(from);
        break;
    case STORE_WIRE_MARK:
        p->number = store_net_get64(from);
        p->clock = store_net_get32(from + 8);
        break;
    default:
        break;
    }
}

size_t store_wire_put(const store_packet_t *p, const void *key,
                      unsigned char to[STORE_WIRE_SMALL_MAX])
{
    uint8_t extras = form_of(p->opcode)->extras;
    store_packet_head_t head = {.magic = STORE_PACKET_REQUEST,
                                .opcode = p->opcode,
                                .extras_length = extras,
                                .key_length = p->klen,
                                .body_length =
                                    (uint32_t)extras + p->klen + p->value,
                                .opaque = p->bits,
                                .cas = p->cas};

    store_packet_head_put(&head, to);
    put_extras(p, to + STORE_PACKET_HEAD);
    if (p->klen > 0)
        memcpy(to + STORE_PACKET_HEAD + extras, key, p->klen);
    return STORE_PACKET_HEAD + (size_t)extras + p->klen;
}

/* @return 0: these are not the lengths of such a packet */
static int take_lengths(store_packet_t *p, const store_packet_head_t *head)
{
    const form_t *form = form_of(p->opcode);
    uint64_t klen = head->key_length, value;

    if (!form || head->extras_length != form->extras || klen < form->key_min ||
        klen > form->key_max || head->body_length < form->extras + klen)
        return 0;
    value = head->body_length - form->extras - klen;
    if (value > form->value_max)
        return 0;
    p->klen = (uint8_t)klen;
    p->value = (uint32_t)value;
    return 1;
}

int store_wire_head(const void *from, size_t n, store_packet_t *p,
                    const char **key)
{
    const unsigned char *bytes = from;
    store_packet_head_t head;
    size_t size;

    memset(p, 0, sizeof *p);
    if (n > 0 && bytes[0] != STORE_PACKET_REQUEST)
        return -1;
    if (n < STORE_PACKET_HEAD)
        return 0;
    store_packet_head_get(&head, bytes);
    p->opcode = head.opcode;
    if (!take_lengths(p, &head))
        return -1;
    size = STORE_PACKET_HEAD + head.extras_length + (size_t)p->klen;
    if (n < size)
        return 0;
    p->bits = head.opaque;
    p->cas = head.cas;
    get_extras(p, bytes + STORE_PACKET_HEAD);
    *key = (const char *)bytes + STORE_PACKET_HEAD + head.extras_length;
    return (int)size;
}

/* ---- a history ---- */

#define FLAGS                                                                  \
    (STORE_HISTORY_INCOMPLETE | STORE_HISTORY_CONTESTED | STORE_HISTORY_EMPTY)

size_t store_wire_put_history(const store_history_t *h,
                              unsigned char to[STORE_WIRE_HISTORY])
{
    uint32_t i;

    store_net_put64(to, h->number);
    store_net_put32(to + 8, h->flags);
    store_net_put32(to + 12, h->n);
    for (i = 0; i < h->n; i++) {
        store_net_put64(to + 16 + 16 * i, h->epoch[i].id);
        store_net_put64(to + 24 + 16 * i, h->epoch[i].position);
    }
    return 16 + 16 * (size_t)h->n;
}

int store_wire_history(const void *bytes, size_t n, store_history_t *h)
{
    const unsigned char *from = bytes;
    uint64_t i, epochs = n < 16 ? 0 : store_net_get32(from + 12);

    memset(h, 0, sizeof *h);
    if (epochs == 0 || epochs > STORE_EPOCHS || n != 16 + 16 * epochs)
        return -1;
    h->number = store_net_get64(from);
    h->flags = store_net_get32(from + 8) & FLAGS;
    h->n = (uint32_t)epochs;
    for (i = 0; i < epochs; i++) {
        h->epoch[i].id = store_net_get64(from + 16 + 16 * i);
        h->epoch[i].position = store_net_get64(from + 24 + 16 * i);
    }
    return 0;
}
