/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/wire.h"

#include <string.h>

#define MAGIC 0x80

/* Numbers are in network order on the wire. */
static void put(unsigned char *to, uint64_t n, unsigned bytes)
{
    while (bytes-- > 0) {
        to[bytes] = (unsigned char)n;
        n >>= 8;
    }
}

static uint64_t get(const unsigned char *from, unsigned bytes)
{
    uint64_t n = 0;

    while (bytes-- > 0)
        n = n << 8 | *from++;
    return n;
}

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
        put(to, p->flags, 4);
        put(to + 4, p->exptime, 4);
        break;
    case STORE_WIRE_TOUCH:
        put(to, p->exptime, 4);
        break;
    case STORE_WIRE_HELLO:
        put(to, p->version, 4);
        put(to + 4, p->number, 8);
        break;
    case STORE_WIRE_SPACE:
        put(to, p->number, 8);
        put(to + 8, p->exptime, 4);
        break;
    case STORE_WIRE_FLUSHED:
        put(to, p->number, 8);
        break;
    case STORE_WIRE_MARK:
        put(to, p->number, 8);
        put(to + 8, p->clock, 4);
        break;
    default:
        break;
    }
}

static void get_extras(store_packet_t *p, const unsigned char *from)
{
    switch (p->opcode) {
    case STORE_WIRE_SET:
        p->flags = (uint32_t)get(from, 4);
        p->exptime = (uint32_t)get(from + 4, 4);
        break;
    case STORE_WIRE_TOUCH:
        p->exptime = (uint32_t)get(from, 4);
        break;
    case STORE_WIRE_HELLO:
        p->version = (uint32_t)get(from, 4);
        p->number = get(from + 4, 8);
        break;
    case STORE_WIRE_SPACE:
        p->number = get(from, 8);
        p->exptime = (uint32_t)get(from + 8, 4);
        break;
    case STORE_WIRE_FLUSHED:
        p->number = get(from, 8);
        break;
    case STORE_WIRE_MARK:
        p->number = get(from, 8);
        p->clock = (uint32_t)get(from + 8, 4);
        break;
    default:
        break;
    }
}

size_t store_wire_put(const store_packet_t *p, const void *key,
                      unsigned char to[STORE_WIRE_SMALL_MAX])
{
    size_t extras = form_of(p->opcode)->extras;

    memset(to, 0, STORE_WIRE_HEAD);
    to[0] = MAGIC;
    to[1] = p->opcode;
    put(to + 2, p->klen, 2);
    to[4] = (unsigned char)extras;
    put(to + 8, extras + p->klen + p->value, 4);
    put(to + 12, p->bits, 4);
    put(to + 16, p->cas, 8);
    put_extras(p, to + STORE_WIRE_HEAD);
    if (p->klen > 0)
        memcpy(to + STORE_WIRE_HEAD + extras, key, p->klen);
    return STORE_WIRE_HEAD + extras + p->klen;
}

/* @return 0: these are not the lengths of such a packet */
static int take_lengths(store_packet_t *p, const unsigned char *head)
{
    const form_t *form = form_of(p->opcode);
    uint64_t klen = get(head + 2, 2), body = get(head + 8, 4), value;

    if (!form || head[4] != form->extras || klen < form->key_min ||
        klen > form->key_max || body < form->extras + klen)
        return 0;
    value = body - form->extras - klen;
    if (value > form->value_max)
        return 0;
    p->klen = (uint8_t)klen;
    p->value = (uint32_t)value;
    return 1;
}

int store_wire_head(const void *from, size_t n, store_packet_t *p,
                    const char **key)
{
    const unsigned char *head = from;
    size_t size;

    memset(p, 0, sizeof *p);
    if (n > 0 && head[0] != MAGIC)
        return -1;
    if (n < STORE_WIRE_HEAD)
        return 0;
    p->opcode = head[1];
    if (!take_lengths(p, head))
        return -1;
    size = STORE_WIRE_HEAD + head[4] + (size_t)p->klen;
    if (n < size)
        return 0;
    p->bits = (uint32_t)get(head + 12, 4);
    p->cas = get(head + 16, 8);
    get_extras(p, head + STORE_WIRE_HEAD);
    *key = (const char *)head + STORE_WIRE_HEAD + head[4];
    return (int)size;
}

/* ---- a history ---- */

#define FLAGS                                                                  \
    (STORE_HISTORY_INCOMPLETE | STORE_HISTORY_CONTESTED | STORE_HISTORY_EMPTY)

size_t store_wire_put_history(const store_history_t *h,
                              unsigned char to[STORE_WIRE_HISTORY])
{
    uint32_t i;

    put(to, h->number, 8);
    put(to + 8, h->flags, 4);
    put(to + 12, h->n, 4);
    for (i = 0; i < h->n; i++) {
        put(to + 16 + 16 * i, h->epoch[i].id, 8);
        put(to + 24 + 16 * i, h->epoch[i].position, 8);
    }
    return 16 + 16 * (size_t)h->n;
}

int store_wire_history(const void *bytes, size_t n, store_history_t *h)
{
    const unsigned char *from = bytes;
    uint64_t i, epochs = n < 16 ? 0 : get(from + 12, 4);

    memset(h, 0, sizeof *h);
    if (epochs == 0 || epochs > STORE_EPOCHS || n != 16 + 16 * epochs)
        return -1;
    h->number = get(from, 8);
    h->flags = (uint32_t)get(from + 8, 4) & FLAGS;
    h->n = (uint32_t)epochs;
    for (i = 0; i < epochs; i++) {
        h->epoch[i].id = get(from + 16 + 16 * i, 8);
        h->epoch[i].position = get(from + 24 + 16 * i, 8);
    }
    return 0;
}
