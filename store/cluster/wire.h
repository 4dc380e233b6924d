/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file wire.h
 * @brief The packets between master and slave: memcached's binary protocol.
 *
 *     master to slave          opcode  extras              key    value
 *       set (SetQ)               11    flags 4, exptime 4  key    value
 *       delete (DeleteQ)         14                        key
 *       touch (Touch)            1c    exptime 4           key
 *     only between two of ours
 *       hello (both directions)  e0    version 4, clock 8  "NAME SIZE\n"...
 *                                                          NUL, history
 *       space                    e1    cas counter 8,      name
 *                                      flush time 4
 *       complete                 e2
 *       flushed                  e3    cas 8
 *       mark (both directions)   e4    position 8, clock 4
 *     from a slave of ours
 *       bye                      e5
 *
 * Each packet is a request (magic 0x80). The cas field has the cas of the item;
 * yrmcds ignores it. The opaque field of a set has the bits of the item
 * (STORE_STALE, STORE_TOKEN_SENT, STORE_CAS_CHOSEN, STORE_KEY_BINARY); yrmcds
 * ignores it. Its upper 24 bits say for how many seconds the item was not used,
 * plus 1; 0, as from an older build: it is used now. A touch has opaque and cas
 * of its item, too. A slave of ours ignores a touch of an item with another cas
 * (0: of any). An item that was read gets such a touch now and then
 * (lru_touches.h); an older build takes it for a touch that changes nothing.
 * exptime and flush time are seconds from now between two of ours, at least 1,
 * so that the clocks of the hosts do not matter. To and from a yrmcds they are
 * seconds since 1970. 0: the item does not expire, and no flush is to come.
 * A slave sends one NUL byte a second while nothing arrives. A slave of ours
 * sends hello first. The opaque field of a hello has STORE_WIRE_ASKS if nothing
 * but a hello is wanted as the answer. In that hello and in the answer a master
 * has STORE_WIRE_IS_MASTER. A history is number 8, flags 4, n 4, and n times id
 * 8, position 8. A hello without NUL is of a store that has no data of a
 * cluster.
 *
 * A mark says that all changes up to this position are before it. Its clock is
 * the low bits of the master's CLOCK_MONOTONIC in ms, less the age of the first
 * change that is behind it. A slave of ours answers with the same packet once
 * all before it is applied: within a second, instead of its NUL, or at once if
 * the opaque field has STORE_WIRE_AT_ONCE. It answers the newest one only. The
 * clock of the answer is the slave's own. The master repeats the newest one
 * that it has heard in the cas field of its marks, with STORE_WIRE_HEARD: so
 * the slave knows that such a mark was sent after that time.
 *
 * Bye: the slave stops in order, and is not promoted. So nobody waits for it.
 *
 * Trust: store_wire_head() decides whether bytes are a packet that may be
 *        sent in this direction. All its lengths are within limits then.
 */
#ifndef APPPOOL_STORE_CLUSTER_WIRE_H
#define APPPOOL_STORE_CLUSTER_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "base/store_format.h"
#include "store/packet_head.h"

#define STORE_WIRE_VERSION    3
#define STORE_WIRE_EXTRAS_MAX 12
#define STORE_WIRE_VALUE_MAX  (UINT32_C(30) << 20) /* as yrmcds */
#define STORE_WIRE_LIST_MAX   (STORE_SPACES * (STORE_NAME + 24))
#define STORE_WIRE_HISTORY    (16 + STORE_EPOCHS * 16) /* bytes at most */
#define STORE_WIRE_HELLO_MAX  (STORE_WIRE_LIST_MAX + 1 + STORE_WIRE_HISTORY)
#define STORE_WIRE_ASKS       1 /* `bits` of a hello */
#define STORE_WIRE_IS_MASTER  2 /* the same */
/** More than the head and the extras, the key of any packet. */
#define STORE_WIRE_SMALL_MAX  (STORE_PACKET_HEAD + STORE_WIRE_EXTRAS_MAX + 256)

#define STORE_WIRE_AT_ONCE    1 /* bits of a mark */
#define STORE_WIRE_HEARD      2
#define STORE_WIRE_USED       8 /* the lowest bit of that part of `bits` */
#define STORE_WIRE_MARK_SIZE  (STORE_PACKET_HEAD + 12)

/** The part of `bits` that says how long an item was not used.
 * @param age s; what is too long for it is shortened */
static inline uint32_t store_wire_used(uint32_t age)
{
    const uint32_t most = UINT32_MAX >> STORE_WIRE_USED;

    return (age < most ? age + 1 : most) << STORE_WIRE_USED;
}

/** @return s since the last use; 0: it is not said */
static inline uint32_t store_wire_age(uint32_t bits)
{
    const uint32_t used = bits >> STORE_WIRE_USED;

    return used > 0 ? used - 1 : 0;
}

/** A packet in host order. `value` bytes follow head, extras and key. */
typedef struct {
    uint8_t opcode;
    uint8_t klen;
    uint32_t value; /**< bytes of the value */
    uint32_t bits;  /**< opaque */
    uint64_t cas;
    uint32_t flags;   /**< set */
    uint32_t exptime; /**< set, touch; space: flush time. s, see above; 0:
                         never */
    uint64_t number;  /**< space: cas counter; flushed: cas; hello: clock, s;
                         mark: position */
    uint32_t version; /**< hello */
    uint32_t clock;   /**< mark: ms */
} store_packet_t;

/**
 * The bytes before the value.
 * @return how many
 */
size_t store_wire_put(const store_packet_t *, const void *key,
                      unsigned char to[STORE_WIRE_SMALL_MAX]);

/**
 * Read head, extras and key.
 * @param key gets the place of the key inside of `from`
 * @return bytes of head, extras and key; 0: more bytes are needed (so call
 *         again with up to STORE_WIRE_SMALL_MAX bytes); -1: this is no packet
 */
int store_wire_head(const void *from, size_t n, store_packet_t *,
                    const char **key);

/** @return bytes */
size_t store_wire_put_history(const store_history_t *,
                              unsigned char to[STORE_WIRE_HISTORY]);

/** Read one of n bytes. Unknown flags are left out.
 * @return 0; -1: this is none, so there is none */
int store_wire_history(const void *from, size_t n, store_history_t *);

#endif
