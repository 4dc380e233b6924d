/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file packet_head.h
 * @brief The head of a packet of memcached's binary protocol, and all opcodes.
 *
 *     magic 1 | opcode 1 | length of the key 2
 *     length of the extras 1 | 0 | status 2
 *     length of extras, key and value 4
 *     opaque 4
 *     cas 8
 *
 * Three things speak it: clients (store/protocol), a master with its slaves at
 * the port `repl` (store/cluster/wire.h), and a relay, whose first packet at
 * the port `memcache` names its space (store/cluster/relay.h).
 *
 * Trust: a length is what the other end says. Its reader checks it.
 */
#ifndef APPPOOL_STORE_PACKET_HEAD_H
#define APPPOOL_STORE_PACKET_HEAD_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define STORE_PACKET_HEAD     24 /**< bytes */
#define STORE_PACKET_REQUEST  0x80
#define STORE_PACKET_RESPONSE 0x81

/** Opcodes of clients. A name that ends with Q is quiet: success is not
 * answered. */
enum {
    STORE_OP_GET = 0x00,
    STORE_OP_SET = 0x01,
    STORE_OP_ADD = 0x02,
    STORE_OP_REPLACE = 0x03,
    STORE_OP_DELETE = 0x04,
    STORE_OP_INCREMENT = 0x05,
    STORE_OP_DECREMENT = 0x06,
    STORE_OP_QUIT = 0x07,
    STORE_OP_FLUSH = 0x08,
    STORE_OP_GETQ = 0x09,
    STORE_OP_NOOP = 0x0a,
    STORE_OP_VERSION = 0x0b,
    STORE_OP_GETK = 0x0c,
    STORE_OP_GETKQ = 0x0d,
    STORE_OP_APPEND = 0x0e,
    STORE_OP_PREPEND = 0x0f,
    STORE_OP_STAT = 0x10,
    STORE_OP_SETQ = 0x11,
    STORE_OP_ADDQ = 0x12,
    STORE_OP_REPLACEQ = 0x13,
    STORE_OP_DELETEQ = 0x14,
    STORE_OP_INCREMENTQ = 0x15,
    STORE_OP_DECREMENTQ = 0x16,
    STORE_OP_QUITQ = 0x17,
    STORE_OP_FLUSHQ = 0x18,
    STORE_OP_APPENDQ = 0x19,
    STORE_OP_PREPENDQ = 0x1a,
    STORE_OP_TOUCH = 0x1c,
    STORE_OP_GAT = 0x1d,
    STORE_OP_GATQ = 0x1e,
    STORE_OP_SASL_LIST = 0x20,
    STORE_OP_SASL_AUTH = 0x21,
    STORE_OP_SASL_STEP = 0x22,
    STORE_OP_GATK = 0x23,
    STORE_OP_GATKQ = 0x24,
    /* of yrmcds */
    STORE_OP_LOCK = 0x40,
    STORE_OP_LOCKQ = 0x41,
    STORE_OP_UNLOCK = 0x42,
    STORE_OP_UNLOCKQ = 0x43,
    STORE_OP_UNLOCK_ALL = 0x44,
    STORE_OP_UNLOCK_ALLQ = 0x45,
    STORE_OP_LAG = 0x46, /**< lock and get */
    STORE_OP_LAGQ = 0x47,
    STORE_OP_LAGK = 0x48,
    STORE_OP_LAGKQ = 0x49,
    STORE_OP_RAU = 0x4a, /**< replace and unlock */
    STORE_OP_RAUQ = 0x4b,
    STORE_OP_KEYS = 0x50
};

/** Opcodes between master and slave, at the port `repl` (wire.h). The first
 * three are memcached's, which a yrmcds understands. */
enum {
    STORE_WIRE_SET = STORE_OP_SETQ,
    STORE_WIRE_DELETE = STORE_OP_DELETEQ,
    STORE_WIRE_TOUCH = STORE_OP_TOUCH,
    STORE_WIRE_HELLO = 0xe0,
    STORE_WIRE_SPACE = 0xe1,
    STORE_WIRE_COMPLETE = 0xe2,
    STORE_WIRE_FLUSHED = 0xe3,
    STORE_WIRE_MARK = 0xe4,
    STORE_WIRE_BYE = 0xe5
};

/** Opcode of the first packet of a relay, at the port `memcache`. The name of
 * the space is its key. The reply has status 0, or an error and the end of the
 * connection. After it the connection is as new: the next byte decides the
 * protocol.
 *
 * It has the number of STORE_WIRE_SPACE, which is never sent to that port. It
 * keeps it: hosts of older builds ask with it, and refuse another one. */
enum { STORE_RELAY_SPACE = 0xe1 };

/** Status of a response. */
enum {
    STORE_STATUS_OK = 0,
    STORE_STATUS_NOT_FOUND = 1,
    STORE_STATUS_EXISTS = 2,
    STORE_STATUS_TOO_LARGE = 3,
    STORE_STATUS_INVALID = 4,
    STORE_STATUS_NOT_STORED = 5,
    STORE_STATUS_NOT_NUMERIC = 6,
    STORE_STATUS_LOCKED = 0x10,     /**< of yrmcds */
    STORE_STATUS_NOT_LOCKED = 0x11, /**< of yrmcds */
    STORE_STATUS_AUTH = 0x20,
    STORE_STATUS_UNKNOWN = 0x81,
    STORE_STATUS_NO_MEMORY = 0x82,
    STORE_STATUS_TEMPORARY = 0x86 /**< memcached's "temporary failure" */
};

/** A head, in host order. */
typedef struct {
    uint8_t magic;
    uint8_t opcode;
    uint8_t extras_length;
    uint16_t key_length;
    uint16_t status;      /**< of a response; 0 in a request */
    uint32_t body_length; /**< of extras, key and value */
    uint32_t opaque;      /**< a response has that of its request */
    uint64_t cas;
} store_packet_head_t;

/* ---- numbers in network order, at any address ---- */

static inline uint16_t store_net_get16(const void *from)
{
    uint16_t n;

    memcpy(&n, from, sizeof n);
    return be16toh(n);
}

static inline uint32_t store_net_get32(const void *from)
{
    uint32_t n;

    memcpy(&n, from, sizeof n);
    return be32toh(n);
}

static inline uint64_t store_net_get64(const void *from)
{
    uint64_t n;

    memcpy(&n, from, sizeof n);
    return be64toh(n);
}

static inline void store_net_put16(void *to, uint16_t n)
{
    n = htobe16(n);
    memcpy(to, &n, sizeof n);
}

static inline void store_net_put32(void *to, uint32_t n)
{
    n = htobe32(n);
    memcpy(to, &n, sizeof n);
}

static inline void store_net_put64(void *to, uint64_t n)
{
    n = htobe64(n);
    memcpy(to, &n, sizeof n);
}

/* ---- heads ---- */

/** @param from STORE_PACKET_HEAD bytes */
static inline void store_packet_head_get(store_packet_head_t *head,
                                         const void *from)
{
    const unsigned char *at = from;

    head->magic = at[0];
    head->opcode = at[1];
    head->key_length = store_net_get16(at + 2);
    head->extras_length = at[4];
    head->status = store_net_get16(at + 6);
    head->body_length = store_net_get32(at + 8);
    head->opaque = store_net_get32(at + 12);
    head->cas = store_net_get64(at + 16);
}

/** @param to gets STORE_PACKET_HEAD bytes */
static inline void store_packet_head_put(const store_packet_head_t *head,
                                         void *to)
{
    unsigned char *at = to;

    at[0] = head->magic;
    at[1] = head->opcode;
    store_net_put16(at + 2, head->key_length);
    at[4] = head->extras_length;
    at[5] = 0;
    store_net_put16(at + 6, head->status);
    store_net_put32(at + 8, head->body_length);
    store_net_put32(at + 12, head->opaque);
    store_net_put64(at + 16, head->cas);
}

#endif
