/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/protocol/meta_flags.h"

#include <string.h>

#include "store/clock.h"
#include "store/protocol/verbs.h"

/* ---- base64, of RFC 4648 ---- */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                             "abcdefghijklmnopqrstuvwxyz0123456789+/";

size_t store_meta_encode(const void *from, size_t n, char *to)
{
    const uint8_t *p = from;
    char *start = to;

    for (; n > 0; p += 3) {
        size_t now = n < 3 ? n : 3;
        uint32_t group = (uint32_t)p[0] << 16 |
                         (now > 1 ? (uint32_t)p[1] << 8 : 0) |
                         (now > 2 ? (uint32_t)p[2] : 0);

        *to++ = digits[group >> 18];
        *to++ = digits[group >> 12 & 63];
        *to++ = now > 1 ? digits[group >> 6 & 63] : '=';
        *to++ = now > 2 ? digits[group & 63] : '=';
        n -= now;
    }
    return (size_t)(to - start);
}

/* 64: none. '=' counts as 0. */
static uint32_t digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (uint32_t)(c - 'A');
    if (c >= 'a' && c <= 'z')
        return (uint32_t)(c - 'a' + 26);
    if (c >= '0' && c <= '9')
        return (uint32_t)(c - '0' + 52);
    return c == '+' ? 62 : c == '/' ? 63 : c == '=' ? 0 : 64;
}

size_t store_meta_decode(const char *from, size_t n, char *to)
{
    char *start = to;
    uint32_t group = 0;
    unsigned count = 0, equals = 0, padding = 0;
    size_t known = 0;
    size_t i;

    for (i = 0; i < n; i++)
        known += digit(from[i]) < 64;
    if (known % 4 != 0)
        return 0;
    for (i = 0; i < n && padding == 0; i++) {
        if (digit(from[i]) == 64)
            continue;
        group = group << 6 | digit(from[i]);
        equals += from[i] == '=';
        if (++count < 4)
            continue;
        padding = equals;
        if (padding > 2)
            return 0;
        *to++ = (char)(group >> 16);
        *to++ = (char)(group >> 8);
        *to++ = (char)group;
        group = 0;
        count = 0;
    }
    return (size_t)(to - start) - padding;
}

/* ---- flags ---- */

#define BAD_TOKEN "CLIENT_ERROR bad token in command line format"

/* The number of a time flag. */
static const char *time_flag(store_token_t number, int *given, uint32_t *at)
{
    int32_t exptime;

    *given = 1;
    if (!store_token_i32(number, &exptime))
        return BAD_TOKEN;
    *at = store_clock_exptime(exptime);
    return NULL;
}

static const char *decode_key(store_meta_flags_t *f)
{
    char decoded[STORE_KEY_MAX];
    size_t n = store_meta_decode(f->key, f->klen, decoded);

    f->binary_key = 1;
    memcpy(f->key, decoded, n);
    f->klen = (uint8_t)n;
    f->unsafe_key = store_copy_is_unsafe(decoded, n);
    return n > 0 ? NULL : "CLIENT_ERROR error decoding key";
}

/* @return what is wrong with a number or the key */
static const char *argument(store_meta_flags_t *f, store_token_t word)
{
    store_token_t rest = {word.at + 1, word.n - 1};

    switch (word.at[0]) {
    case 'b':
        return decode_key(f);
    case 'N':
        return time_flag(rest, &f->vivify, &f->vivify_exptime);
    case 'T':
        return time_flag(rest, &f->touch, &f->exptime);
    case 'R':
        return time_flag(rest, &f->recache, &f->recache_time);
    case 'F':
        return store_token_u32(rest, &f->client_flags)
                   ? NULL
                   : "CLIENT_ERROR bad command line format";
    case 'C':
        f->has_cas = 1;
        return store_token_u64(rest, &f->cas) ? NULL : BAD_TOKEN;
    case 'J':
        return store_token_u64(rest, &f->initial)
                   ? NULL
                   : "CLIENT_ERROR invalid numeric initial value";
    case 'D':
        return store_token_u64(rest, &f->delta)
                   ? NULL
                   : "CLIENT_ERROR invalid numeric delta value";
    case 'M':
        f->mode = word.at[word.n - 1];
        return rest.n == 1 ? NULL : "CLIENT_ERROR incorrect length for M token";
    default:
        return NULL;
    }
}

/* @return 0: there is no such flag */
static int flag(store_meta_flags_t *f, store_token_t word)
{
    switch (word.at[0]) {
    case 'v':
        f->value = 1;
        return 1;
    case 'q':
        f->quiet = 1;
        return 1;
    case 'I':
        f->stale = 1;
        return 1;
    case 'u':
        f->update = 0;
        return 1;
    case 'O':
        f->long_opaque = word.n > STORE_OPAQUE_MAX;
        return 1;
    default:
        return word.at[0] && strchr("PLkstcflhbNTRFCJDM", word.at[0]);
    }
}

const char *store_meta_flags_parse(store_meta_flags_t *f,
                                   const store_tokens_t *tokens, unsigned first)
{
    const char *wrong = NULL;
    char seen[128] = {0};
    store_token_t key = tokens->word[1];
    unsigned i;

    memset(f, 0, sizeof *f);
    f->tokens = tokens;
    f->first = first;
    f->update = 1;
    f->delta = 1;
    memcpy(f->key, key.at, key.n);
    f->klen = (uint8_t)key.n;
    for (i = first; i < tokens->n; i++) {
        unsigned char c = (unsigned char)tokens->word[i].at[0];
        const char *error;

        if (c >= 127 || seen[c])
            return "CLIENT_ERROR duplicate flag";
        seen[c] = 1;
        if (!flag(f, tokens->word[i]))
            return "CLIENT_ERROR invalid flag";
        error = argument(f, tokens->word[i]);
        /* memcached has no words of its own for a wrong F. */
        if (error && !(wrong && c == 'F'))
            wrong = error;
    }
    return wrong;
}

int store_meta_flags_has(const store_meta_flags_t *f, char flag)
{
    unsigned i;

    for (i = f->first; i < f->tokens->n; i++)
        if (f->tokens->word[i].at[0] == flag)
            return 1;
    return 0;
}

uint32_t store_meta_flags_exptime(const store_meta_flags_t *f, char end,
                                  uint32_t exptime, int created)
{
    unsigned i;

    for (i = f->first; i < f->tokens->n; i++) {
        char c = f->tokens->word[i].at[0];

        if (c == end)
            break;
        if (c == 'T')
            exptime = f->exptime;
        if (c == 'N' && created)
            exptime = f->vivify_exptime;
    }
    return exptime;
}

/* ---- lines ---- */

static void add(store_meta_line_t *line, const char *bytes, size_t n)
{
    if (n > sizeof line->text - line->n)
        n = sizeof line->text - line->n;
    memcpy(line->text + line->n, bytes, n);
    line->n += n;
}

void store_meta_line_word(store_meta_line_t *line, const char *word)
{
    add(line, word, strlen(word));
}

void store_meta_line_digits(store_meta_line_t *line, uint64_t n)
{
    char text[20];
    size_t i = sizeof text;

    do
        text[--i] = (char)('0' + n % 10);
    while ((n /= 10) > 0);
    add(line, text + i, sizeof text - i);
}

void store_meta_line_number(store_meta_line_t *line, char name, uint64_t n)
{
    add(line, (const char[]){' ', name}, 2);
    store_meta_line_digits(line, n);
}

void store_meta_line_ttl(store_meta_line_t *line, uint32_t exptime)
{
    uint32_t now = store_clock();

    if (exptime == 0)
        add(line, " t-1", 4);
    else
        store_meta_line_number(line, 't', exptime > now ? exptime - now : 0);
}

void store_meta_line_key(store_meta_line_t *line, const char *key, uint8_t klen,
                         int binary)
{
    char text[STORE_META_BASE64(STORE_KEY_MAX)];
    size_t n;

    add(line, " k", 2);
    if (binary) {
        n = store_meta_encode(key, klen, text);
        add(line, text, n);
        add(line, " b", 2);
    }
    else {
        add(line, key, klen);
    }
}

void store_meta_line_opaque(store_meta_line_t *line, store_token_t opaque)
{
    add(line, " ", 1);
    add(line, opaque.at, opaque.n);
}

void store_meta_line_repeat(store_meta_line_t *line,
                            const store_meta_flags_t *f)
{
    unsigned i;

    for (i = f->first; i < f->tokens->n; i++) {
        store_token_t word = f->tokens->word[i];

        if (word.at[0] == 'O')
            store_meta_line_opaque(line, word);
        else if (word.at[0] == 'k')
            store_meta_line_key(line, f->key, f->klen, f->binary_key);
    }
}

void store_meta_line_end(store_meta_line_t *line, store_reply_t *reply)
{
    add(line, "\r\n", 2);
    store_reply_copy(reply, line->text, line->n);
}
