/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file token.h
 * @brief The words of a line of the text protocol, and numbers in them.
 *
 * The line is not changed and needs no NUL at its end. A word ends at a space.
 * What a number is follows memcached: white space other than a space may stand
 * around it, a sign may stand before it, and "12abc" is none.
 *
 * Trust: the bytes are those of a client. Nothing is read beyond the length.
 */
#ifndef APPPOOL_STORE_PROTOCOL_TOKEN_H
#define APPPOOL_STORE_PROTOCOL_TOKEN_H

#include <stddef.h>
#include <stdint.h>

/** Words that are taken from a line at once, as memcached takes them. What
 * follows the last one is ignored by all commands but those that get many
 * keys. */
#define STORE_TOKENS 23

typedef struct {
    const char *at;
    size_t n;
} store_token_t;

typedef struct {
    store_token_t word[STORE_TOKENS + 1]; /**< the one behind the last: n = 0 */
    unsigned n;
} store_tokens_t;

/** The first words of the line. */
void store_token_split(store_tokens_t *, const char *line, size_t n);

/** The next word of [*at, end), which becomes shorter. n = 0: there is none. */
store_token_t store_token_next(const char **at, const char *end);

int store_token_is(store_token_t, const char *word);

/** @return 0: it is no number, or too large; *out is 0 then.
 *  The 32 bits are the low ones of 64, as in memcached. */
int store_token_u64(store_token_t, uint64_t *out);
int store_token_u32(store_token_t, uint32_t *out);
int store_token_i32(store_token_t, int32_t *out);

#endif
