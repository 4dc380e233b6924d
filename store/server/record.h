/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file record.h
 * @brief One record of a snapshot (snapshot.h): its bytes, and its check.
 *
 * Lock:  none.
 * Trust: store_record_check() decides whether bytes are a record.
 */
#ifndef APPPOOL_STORE_SERVER_RECORD_H
#define APPPOOL_STORE_SERVER_RECORD_H

#include <stddef.h>
#include <stdint.h>

#define STORE_RECORD_MAGIC     UINT32_C(0x53415031)
#define STORE_RECORD_VALUE_MAX (UINT32_C(31) << 20)

#define STORE_RECORD_FILE      UINT64_C(0x31657661736f7473)
#define STORE_RECORD_KEY       16

/** The beginning of the file. The key is random. Else a client could put the
 * bytes of a record into a value, and damage before it would make them one. */
typedef struct {
    uint64_t magic; /**< STORE_RECORD_FILE */
    uint32_t version;
    uint32_t spare;
    unsigned char key[STORE_RECORD_KEY];
} store_record_file_t;

#define STORE_RECORD_VERSION 1

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
    uint8_t spare[2];
    uint32_t flags;
    uint32_t length;                      /**< bytes of the value */
    int64_t exptime;                      /**< s since 1970; 0: never */
    uint64_t check;                       /**< of all other bytes */
} __attribute__((packed)) store_record_t; /* it may begin at any address */

_Static_assert(sizeof(store_record_t) == 32, "as drawn");

/** Bytes of the whole record. */
static inline size_t store_record_size(const store_record_t *r)
{
    return sizeof *r + r->klen + r->length;
}

/** May this be the header of a record? Its lengths are within limits then. */
int store_record_is_header(const store_record_t *);

/** The check of a record that is together in memory. @param key of the file */
uint64_t store_record_check(const store_record_t *,
                            const unsigned char key[STORE_RECORD_KEY]);

#endif
