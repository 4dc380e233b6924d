/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/sender.h"

#include <string.h>
#include <time.h>

#include "base/clock_ms.h"
#include "store/clock.h"
#include "store/cluster/wire.h"

/* A slave has these bits of an item, too. */
#define SENT_BITS                                                              \
    (STORE_STALE | STORE_TOKEN_SENT | STORE_CAS_CHOSEN | STORE_KEY_BINARY)

/* As the slave understands it. One of ours counts the seconds from now, so that
 * no step of a host's clock expires an item. A yrmcds knows the time of day
 * only. */
static uint32_t time_of(const store_sender_t *s, uint32_t exptime)
{
    int64_t left = (int64_t)exptime - store_clock(),
            at = s->ours ? left : left + time(NULL);

    if (exptime == 0)
        return 0;
    return at < 1 ? 1 : at > UINT32_MAX ? UINT32_MAX : (uint32_t)at;
}

static int put(store_sender_t *s, const store_packet_t *p, const void *key)
{
    unsigned char head[STORE_WIRE_SMALL_MAX];

    return store_slave_link_put(&s->out, head, store_wire_put(p, key, head));
}

/* With the time since its last use, for a slave of ours. */
static uint32_t bits_of(const store_sender_t *s, const store_item_t *item)
{
    uint32_t bits = STORE_GET(item->bits) & SENT_BITS, now = store_clock(),
             used = STORE_GET(item->used);

    return s->ours ? bits | store_wire_used(used < now ? now - used : 0) : bits;
}

/* What follows is of this space. */
static int name_space(store_sender_t *s, const store_space_t *space)
{
    store_packet_t p = {.opcode = STORE_WIRE_SPACE,
                        .klen = (uint8_t)strlen(space->name),
                        .number = STORE_GET(space->entry->cas),
                        .exptime =
                            time_of(s, STORE_GET(space->entry->flush_at))};

    if (!s->ours || s->space == space)
        return 0;
    s->space = space;
    return put(s, &p, space->name);
}

int store_sender_space(store_sender_t *s, const store_space_t *space)
{
    s->space = NULL;
    return name_space(s, space);
}

static int put_value(store_sender_t *s, const store_space_t *space,
                     const store_item_t *item)
{
    uint32_t at, n;

    for (at = 0; at < item->length; at += n) {
        const char *bytes = store_item_bytes(space, item, at, &n);

        if (store_slave_link_put(&s->out, bytes, n) != 0)
            return -1;
    }
    return 0;
}

int store_sender_item(store_sender_t *s, const store_space_t *space,
                      const store_item_t *item)
{
    store_packet_t p = {.opcode = STORE_WIRE_SET,
                        .klen = item->klen,
                        .value = item->length,
                        .bits = bits_of(s, item),
                        .cas = store_cas(item),
                        .flags = item->flags,
                        .exptime = time_of(s, STORE_GET(item->exptime))};
    const char *key = store_item_key(item);

    if (item->length > STORE_WIRE_VALUE_MAX)
        return 0;
    if (name_space(s, space) != 0 || put(s, &p, key) != 0 ||
        put_value(s, space, item) != 0)
        return -1;
    if (s->ours || item->length > 0 || p.exptime == 0)
        return 0;
    p = (store_packet_t){
        .opcode = STORE_WIRE_TOUCH, .klen = item->klen, .exptime = p.exptime};
    return put(s, &p, key);
}

int store_sender_delete(store_sender_t *s, const store_space_t *space,
                        const char *key, uint8_t klen)
{
    store_packet_t p = {.opcode = STORE_WIRE_DELETE, .klen = klen};

    return name_space(s, space) != 0 ? -1 : put(s, &p, key);
}

int store_sender_touch(store_sender_t *s, const store_space_t *space,
                       const store_item_t *item)
{
    store_packet_t p = {.opcode = STORE_WIRE_TOUCH,
                        .klen = item->klen,
                        .bits = bits_of(s, item),
                        .cas = store_cas(item),
                        .exptime = time_of(s, STORE_GET(item->exptime))};

    return name_space(s, space) != 0 ? -1 : put(s, &p, store_item_key(item));
}

int store_sender_flushed(store_sender_t *s, const store_space_t *space,
                         uint64_t cas)
{
    store_packet_t p = {.opcode = STORE_WIRE_FLUSHED, .number = cas};

    return name_space(s, space) != 0 ? -1 : put(s, &p, "");
}

int store_sender_mark(store_sender_t *s, uint64_t position, int64_t age,
                      int at_once)
{
    store_packet_t p = {.opcode = STORE_WIRE_MARK,
                        .number = position,
                        .clock = (uint32_t)(clock_ms() - age),
                        .bits = at_once ? STORE_WIRE_AT_ONCE : 0};

    if (s->out.has_echoed) {
        p.bits |= STORE_WIRE_HEARD;
        p.cas = s->out.echoed_at;
    }
    s->out.marked = position;
    return put(s, &p, "");
}

int store_sender_complete(store_sender_t *s)
{
    store_packet_t p = {.opcode = STORE_WIRE_COMPLETE};

    return put(s, &p, "");
}
