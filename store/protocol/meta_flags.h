/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file meta_flags.h
 * @brief The key and the flags of a meta command, and the line that answers it.
 *
 * Trust: the words are those of a client.
 */
#ifndef APPPOOL_STORE_PROTOCOL_META_FLAGS_H
#define APPPOOL_STORE_PROTOCOL_META_FLAGS_H

#include "store/protocol/dialogue_state.h"
#include "store/protocol/token.h"

/** The bytes of base64 that n bytes become, of a binary key. */
#define STORE_META_BASE64(n) (((n) + 2) / 3 * 4)

/** @param to STORE_META_BASE64(n) bytes @return how many were written */
size_t store_meta_encode(const void *from, size_t n, char *to);

/**
 * Bytes that are no base64 digits are passed over, as memcached does it.
 * @param to at least n bytes
 * @return how many were written; 0: it is no base64
 */
size_t store_meta_decode(const char *from, size_t n, char *to);

/** Words of a meta command at most, its name included. */
#define STORE_META_WORDS 19

typedef struct {
    const store_tokens_t *tokens;
    unsigned first; /**< the word that is the first flag */

    char key[STORE_KEY_MAX]; /**< decoded */
    uint8_t klen;
    int binary_key; /**< b */
    int unsafe_key; /**< store_copy_is_unsafe() */

    char mode;                                      /**< M, 0: none */
    int value;                                      /**< v */
    int quiet;                                      /**< q */
    int stale;                                      /**< I */
    int update;                                     /**< not u */
    int vivify;                                     /**< N */
    int touch;                                      /**< T */
    int recache;                                    /**< R */
    int has_cas;                                    /**< C */
    uint32_t vivify_exptime, exptime, recache_time; /**< s, store's clock */
    uint32_t client_flags;                          /**< F */
    uint64_t cas, delta, initial;                   /**< C, D, J */
    int long_opaque;                                /**< O is too long */
} store_meta_flags_t;

/**
 * Read the key and the flags.
 * @param first the word that is the first flag
 * @return NULL, or memcached's words for what is wrong
 */
const char *store_meta_flags_parse(store_meta_flags_t *, const store_tokens_t *,
                                   unsigned first);

int store_meta_flags_has(const store_meta_flags_t *, char flag);

/**
 * The exptime of an item when it is the turn of a flag. T changes it, and so
 * does N if the item is created.
 * @param flag    0: behind all flags
 * @param exptime what it was before
 */
uint32_t store_meta_flags_exptime(const store_meta_flags_t *, char flag,
                                  uint32_t exptime, int created);

/** A line that is being made. No line is longer: a key in base64, and 19 flags
 * with numbers. */
typedef struct {
    char text[1024];
    size_t n;
} store_meta_line_t;

void store_meta_line_word(store_meta_line_t *, const char *word);

void store_meta_line_digits(store_meta_line_t *, uint64_t);

/** A space, the flag, a number. */
void store_meta_line_number(store_meta_line_t *, char flag, uint64_t);

/** The flag t: seconds to live, or -1. @param exptime s on the store's clock */
void store_meta_line_ttl(store_meta_line_t *, uint32_t exptime);

/** The key, in base64 with " b" behind it if it is binary. */
void store_meta_line_key(store_meta_line_t *, const char *key, uint8_t klen,
                         int binary);

/** A space, and bytes of the client. */
void store_meta_line_opaque(store_meta_line_t *, store_token_t);

/** The flags that each answer repeats: O and k, in their order. */
void store_meta_line_repeat(store_meta_line_t *, const store_meta_flags_t *);

/** End the line, and add it to the reply. */
void store_meta_line_end(store_meta_line_t *, store_reply_t *);

#endif
