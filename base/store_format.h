/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store_format.h
 * @brief The layout of the memfd that holds all items of all spaces.
 *
 * The memfd outlives the store. A store that starts maps it, proves each item,
 * and rebuilds everything else (store/memory/space.c). So only pages with
 * items and the directory are in it: hash buckets, free lists, locks and
 * counts are private memory.
 *
 *     directory (1 MiB) | extent of space 0 (32 GiB) | extent of space 1 | ...
 *
 * The file is sparse. An extent has `pages` used pages at its beginning:
 *
 *     page (64 KiB):  header 64 | chunk | chunk | ...     chunks of one class
 *     chunk:          item header 36 | key | value          one chunk, or
 *                     item header 36 | key | link 4         STORE_CHAINED
 *                     item header 36 | bytes of the value   a piece
 *
 * A reference names a chunk of the same space: its offset from the beginning of
 * the extent, in units of 8 bytes. 0 is no chunk.
 *
 * The state of an item is the truth:
 *
 *     FREE -> WRITING -> LIVE -> FREE        an item
 *     FREE -> PIECE -> FREE                  a piece of a chained value
 *
 * Invariants, at any instruction:
 *  1. A LIVE item is complete: key, value, and all pieces of a chained value.
 *     Its check is right.
 *  2. The value of a LIVE item does not change. A new value is a new item. Only
 *     exptime, used, refs, next and bits of a LIVE item change, each by one
 *     store.
 *  3. Of two LIVE items with the same key the one without STORE_OLD_COPY is the
 *     present one, or else the one with the higher cas. The other one is about
 *     to be freed. Two with the same cas are copies: an item goes to another
 *     page.
 *  4. A piece names its head in `flags`. A piece whose head is not LIVE, or
 *     does not reach it, is free. So a head never goes to another chunk. The
 *     link to a piece of a LIVE head changes by one store, to a copy of that
 *     piece.
 *  5. A page has its class before it has its first item.
 *  6. The cas counter of the directory is at least the cas of each LIVE item
 *     that has no STORE_CAS_CHOSEN.
 *  7. A chunk of a page that has a class is FREE, or was used in this class:
 *     bytes of an older class are never taken for a state.
 *
 * Trust: only the store maps it. A store that died may have left it in any
 *        state, also through a defect. So the recovery proves all that it uses.
 */
#ifndef APPPOOL_BASE_STORE_FORMAT_H
#define APPPOOL_BASE_STORE_FORMAT_H

#include <stdint.h>

#define STORE_MAGIC      UINT64_C(0x3165726f74735041) /* "APstore1" */
#define STORE_VERSION    1
#define STORE_SPACES     256
#define STORE_NAME       64 /* bytes of a space's name, NUL included */
#define STORE_DIRECTORY  (UINT64_C(1) << 20)
#define STORE_EXTENT     (UINT64_C(32) << 30)
#define STORE_PAGE       UINT32_C(65536)
#define STORE_PAGE_MAGIC UINT32_C(0x67705341) /* "ASpg" */
#define STORE_UNIT       8                    /* bytes */
#define STORE_KEY_MAX    250
#define STORE_EPOCHS     16 /* that a history knows */

/** A chunk of the same space; 0: none. */
typedef uint32_t store_ref_t;

/** A space. All but the name is written while the space is used. */
typedef struct {
    char name[STORE_NAME]; /**< "": this entry is free */
    uint64_t cas;          /**< the last that was given; atomic */
    uint64_t flushed;      /**< items with this cas or a lower one are dead;
                              atomic */
    uint32_t flush_at;     /**< s on the store's clock: flush then; 0: never */
    uint32_t pages;        /**< that were ever used, at the beginning of the
                              extent; grows before the first use of a page */
    uint32_t gone_at;      /**< s: when the table lost it; 0: it is in use */
    uint32_t flushes;      /**< how many there were; atomic */
    uint8_t reserved[160];
} store_entry_t;

/** The data of one master: what came from one promotion to the next. */
typedef struct {
    uint64_t id;       /**< random; 0: none */
    uint64_t position; /**< changes since it began; of an earlier epoch: where
                          the next one began */
} store_epoch_t;

/** Where the data of this store comes from. Only in a cluster. */
typedef struct {
    uint64_t number; /**< promotions since the first one */
    uint32_t flags;  /**< STORE_HISTORY_... */
    uint32_t n;      /**< epochs that are known; 0: no data of a cluster */
    store_epoch_t epoch[STORE_EPOCHS]; /**< [0] is the present one */
} store_history_t;

/** What the items of a directory lack. */
enum {
    STORE_LACKS_NOTHING,
    STORE_LACKS_ITEMS, /**< they are a part of a copy */
    STORE_LACKS_NEWER  /**< they are a whole copy that is old, and a part of a
                          newer one */
};

/** Flags of a history. */
enum {
    STORE_HISTORY_INCOMPLETE = 1, /**< it began with a part of a copy, or with a
                                     file that was not complete */
    STORE_HISTORY_CONTESTED = 2,  /**< it began empty while another host had
                                     data */
    STORE_HISTORY_EMPTY = 4       /**< its first epoch began without an item */
};

typedef struct {
    uint64_t magic; /**< written last by the store that makes it */
    uint32_t version;
    uint32_t spaces;      /**< STORE_SPACES */
    int64_t clock_offset; /**< s: the store's clock minus CLOCK_MONOTONIC */
    uint32_t loaded;      /**< 1: the file of the last stop is not needed */
    uint32_t lacks;       /**< STORE_LACKS_...: a copy of a master, or a file,
                             had not all items; atomic */
    uint8_t reserved[224];
    store_entry_t entry[STORE_SPACES];
    store_history_t history; /**< the follower or the role writes it */
    uint64_t was_master;     /**< 1: the last process with this memory was a
                                master; atomic */
} store_directory_t;

typedef struct {
    uint32_t magic; /**< STORE_PAGE_MAGIC, or 0: the page is free */
    uint8_t class_; /**< of its chunks */
    uint8_t spare[3];
    uint8_t reserved[56];
} store_page_t;

/** States. */
enum { STORE_FREE, STORE_WRITING, STORE_LIVE, STORE_PIECE };

/** Bits. */
enum {
    STORE_CHAINED = 1,    /**< the value is in pieces */
    STORE_FETCHED = 2,    /**< has been read since it was written */
    STORE_STALE = 4,      /**< meta protocol: marked invalid */
    STORE_TOKEN_SENT = 8, /**< meta protocol: one client is to renew it */
    STORE_OLD_COPY = 16,  /**< of the copy before the one that a slave takes. In
                              an older build it was that of a value in a file,
                              whose head the recovery drops */
    STORE_CAS_CHOSEN = 32, /**< the cas is the client's, not the next one */
    STORE_KEY_BINARY = 64, /**< meta protocol: clients get the key in base64 */
    STORE_LOCKED = 128     /**< a connection has it; gone with the process */
};

/** The header of an item, or of a piece. 36 bytes, no padding. */
typedef struct {
    uint64_t cas;     /**< in a piece its offset in the value */
    store_ref_t next; /**< of the same bucket, or the next piece */
    uint32_t exptime; /**< s on the store's clock; 0: never */
    uint32_t used;    /**< s: the last access */
    uint32_t flags;   /**< the client's; in a piece the reference of its head */
    uint32_t length;  /**< bytes of the whole value; of this piece */
    uint16_t refs;    /**< keep the memory; atomic. The index has one, so
                         it is 1 after a recovery */
    uint16_t check;   /**< of klen, length, flags, cas and key */
    uint8_t klen;
    uint8_t state;   /**< atomic; commits everything else */
    uint8_t bits;    /**< atomic */
    uint8_t flushes; /**< STORE_CAS_CHOSEN: of the entry, when it was made */
} __attribute__((packed, aligned(4))) store_item_t;

_Static_assert(sizeof(store_item_t) == 36, "as drawn");
_Static_assert(sizeof(store_entry_t) == 256, "as drawn");
_Static_assert(sizeof(store_directory_t) <= STORE_DIRECTORY, "as drawn");

#endif
