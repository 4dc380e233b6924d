/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/protocol/token.h"

#include <string.h>

store_token_t store_token_next(const char **at, const char *end)
{
    store_token_t token = {NULL, 0};
    const char *p = *at;

    while (p < end && *p == ' ')
        p++;
    token.at = p;
    while (p < end && *p != ' ')
        p++;
    token.n = (size_t)(p - token.at);
    *at = p;
    return token;
}

void store_token_split(store_tokens_t *tokens, const char *line, size_t n)
{
    const char *end = line + n;

    tokens->n = 0;
    while (tokens->n < STORE_TOKENS) {
        tokens->word[tokens->n] = store_token_next(&line, end);
        if (tokens->word[tokens->n].n == 0)
            return;
        tokens->n++;
    }
    tokens->word[tokens->n] = (store_token_t){line, 0};
}

int store_token_is(store_token_t token, const char *word)
{
    return token.n == strlen(word) && memcmp(token.at, word, token.n) == 0;
}

/* isspace() of the C locale. */
static int is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The digits of a number without its sign. A NUL ends it, too: a value may have
 * one. */
static int magnitude(store_token_t token, uint64_t *out, int *negative)
{
    const char *p = token.at, *end = token.at + token.n, *digits;

    while (p < end && is_space(*p))
        p++;
    *negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    *out = 0;
    for (digits = p; p < end && *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(*out, 10, out) ||
            __builtin_add_overflow(*out, (uint64_t)(*p - '0'), out))
            return 0;
    return p > digits && (p == end || *p == '\0' || is_space(*p));
}

/* As strtoull() does, a minus negates the number. memcached refuses the result
 * only if its highest bit is set. */
int store_token_u64(store_token_t token, uint64_t *out)
{
    int negative;

    if (magnitude(token, out, &negative)) {
        if (negative)
            *out = -*out;
        if (*out <= INT64_MAX || memchr(token.at, '-', token.n) == NULL)
            return 1;
    }
    *out = 0;
    return 0;
}

int store_token_u32(store_token_t token, uint32_t *out)
{
    uint64_t all;
    int good = store_token_u64(token, &all);

    *out = (uint32_t)all;
    return good;
}

int store_token_i32(store_token_t token, int32_t *out)
{
    uint64_t all;
    int negative;

    *out = 0;
    if (!magnitude(token, &all, &negative) ||
        all > (uint64_t)INT64_MAX + (negative ? 1 : 0))
        return 0;
    if (negative)
        all = -all;
    *out = (int32_t)(uint32_t)all;
    return 1;
}
