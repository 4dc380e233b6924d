/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file record.h
 * @brief One record of a snapshot (snapshot.h): its bytes, and its check.
 *
 * Trust: store_record_check() decides whether bytes are a record.
 */
#ifndef APPPOOL_STORE_SERVER_RECORD_H
#define APPPOOL_STORE_SERVER_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "base/store_format.h"

#define STORE_RECORD_MAGIC     UINT32_C(0x53415031)
#define STORE_RECORD_VALUE_MAX (UINT32_C(31) << 20)

#define STORE_RECORD_FILE      UINT64_C(0x31657661736f7473)
#define STORE_RECORD_KEY       16

/** The beginning of the file. The key is random. Else a client could put the
 * bytes of a record into a value, and damage before it would make them one.
 * Version 1 has no check of a header alone. */
typedef struct {
    uint64_t magic; /**< STORE_RECORD_FILE */
    uint32_t version;
    uint32_t number; /**< of this file; the next one has a higher number */
    unsigned char key[STORE_RECORD_KEY];
} store_record_file_t;

#define STORE_RECORD_VERSION 2

/** Kinds. */
enum {
    STORE_RECORD_SPACE = 1,
    STORE_RECORD_ITEM,
    STORE_RECORD_END,
    STORE_RECORD_HISTORY /**< the value is a store_history_t */
};

typedef struct {
    uint32_t magic;
    uint8_t kind;
    uint8_t klen;
    uint8_t bits;    /**< of an item: STORE_RECORD_BITS; of the end: 1: others
                       were served meanwhile */
    uint8_t age;     /**< of an item: store_record_age() of its last use */
    uint32_t flags;  /**< of an item; s since 1970: of a space, when it is to be
                       flushed, of the end, when it was written; 0: never */
    uint32_t length; /**< bytes of the value */
    int64_t exptime; /**< s since 1970; 0: never */
    uint64_t check;  /**< of all other bytes; the upper half is that of the
                        other bytes of the header */
} __attribute__((packed)) store_record_t; /* it may begin at any address */

_Static_assert(sizeof(store_record_t) == 32, "as drawn");

/** The bits of an item that a client can see (base/store_format.h). */
#define STORE_RECORD_BITS (STORE_STALE | STORE_TOKEN_SENT | STORE_KEY_BINARY)

/** How long an item was not used, in a byte: an eighth of it may be lost, so
 * that 4,000,000,000 s are within it too. 0 in an older file: it was used
 * now. */
uint8_t store_record_age(uint32_t s);
/** @return s; at most what was given */
uint32_t store_record_age_s(uint8_t age);

/** Bytes of the whole record. */
static inline size_t store_record_size(const store_record_t *r)
{
    return sizeof *r + r->klen + r->length;
}

/** Is this the header of a record of the file? Then its lengths are right. So
 * what is hashed in vain, behind a header that is no record, is at most the
 * file once. In version 1 it may be a header, and its lengths are within
 * limits. */
int store_record_is_header(const store_record_t *, const store_record_file_t *);

/** The check of a record of the file that is together in memory. */
uint64_t store_record_check(const store_record_t *,
                            const store_record_file_t *);

#endif
