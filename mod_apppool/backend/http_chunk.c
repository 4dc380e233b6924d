/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/http_chunk.h"

#include <apr_lib.h>

#define DIGITS 15   /* of a size, at most */
#define LINE   1024 /* bytes behind a size, at most */

/* What the next byte belongs to. */
enum { SIZE, EXTENSION, SIZE_LF, END_CR, END_LF, TRAILER, TRAILER_LF };

/* @return -1: it is no digit */
static int value_of(char c)
{
    if (apr_isdigit(c))
        return c - '0';
    c = (char)(c | ('a' ^ 'A'));
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The size, or what follows it in its line. */
static const char *see_size(apppool_http_chunk_t *chunk, char c)
{
    static const char wrong[] = "the size of a chunk is not a number";
    int value = value_of(c);

    if (chunk->state == SIZE && value >= 0) {
        if (++chunk->digits > DIGITS)
            return wrong;
        chunk->size = chunk->size * 16 + value;
        return NULL;
    }
    if (chunk->digits == 0)
        return wrong;
    if (c == '\r')
        chunk->state = SIZE_LF;
    else if (chunk->state == SIZE && c != ';' && c != ' ' && c != '\t')
        return wrong;
    else if (apr_iscntrl(c) && c != '\t')
        return "the extension of a chunk has a control character";
    else
        chunk->state = EXTENSION;
    return ++chunk->line > LINE ? "the extension of a chunk is too long" : NULL;
}

static const char *end_size(apppool_http_chunk_t *chunk, char c)
{
    if (c != '\n')
        return "the size of a chunk ends with CR alone";
    chunk->left = chunk->size;
    chunk->state = chunk->size > 0 ? END_CR : TRAILER;
    chunk->size = chunk->digits = chunk->line = 0;
    return NULL;
}

static const char *see_end(apppool_http_chunk_t *chunk, char c)
{
    if (c != (chunk->state == END_CR ? '\r' : '\n'))
        return "a chunk is longer than its size";
    chunk->state = chunk->state == END_CR ? END_LF : SIZE;
    return NULL;
}

/* An empty line ends it. It is not stored. */
static const char *see_trailer(apppool_http_chunk_t *chunk, apr_pool_t *pool,
                               char c)
{
    apr_size_t n = chunk->trailer_size;
    char last = n > 0 ? chunk->trailer[n - 1] : '\n';

    if (c == '\r' && last == '\n') {
        chunk->state = TRAILER_LF;
        return NULL;
    }
    if (c == '\n' && last != '\r')
        return "a line of the trailer ends without CR";
    if (!chunk->trailer)
        chunk->trailer = apr_palloc(pool, APPPOOL_HTTP_TRAILER);
    if (n == APPPOOL_HTTP_TRAILER)
        return "the trailer of the response is too long";
    chunk->trailer[chunk->trailer_size++] = c;
    return NULL;
}

static const char *end_trailer(apppool_http_chunk_t *chunk, char c)
{
    chunk->ended = c == '\n';
    return chunk->ended ? NULL : "the trailer of the response has a CR alone";
}

const char *apppool_http_chunk_see(apppool_http_chunk_t *chunk,
                                   apr_pool_t *pool, char c)
{
    switch (chunk->state) {
    case SIZE:
    case EXTENSION:
        return see_size(chunk, c);
    case SIZE_LF:
        return end_size(chunk, c);
    case END_CR:
    case END_LF:
        return see_end(chunk, c);
    case TRAILER_LF:
        return end_trailer(chunk, c);
    default:
        return see_trailer(chunk, pool, c);
    }
}
