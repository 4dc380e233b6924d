/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The bytes of an app that speaks HTTP: any bytes, in any pieces. The result is
 * the same for all pieces.
 *
 * Input: a byte (the size of the pieces; the first bit: the request is HEAD), and
 * the bytes that are sent. */

#include "mod_apppool/backend/http_parser.h"

#include <apr_general.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

#define MOST 8192

/* What came out. */
typedef struct {
    char body[MOST];
    size_t n;
    int heads, fields;
    apppool_http_event_t event; /* the last one */
    apppool_http_parser_t parser;
} result_t;

static void must(int truth)
{
    if (!truth)
        abort();
}

/* A name and a value are one line each, and hold no zero byte. */
static int see_field(void *result, const char *name, const char *value)
{
    must(*name && !strpbrk(name, "\r\n: ") && !strpbrk(value, "\r\n"));
    ((result_t *)result)->fields++;
    return 1;
}

static void collect(result_t *result)
{
    const apppool_http_parser_t *parser = &result->parser;

    must(parser->size > 0 && result->n + parser->size <= MOST);
    memcpy(result->body + result->n, parser->piece, parser->size);
    result->n += parser->size;
}

/* @return 0: no more is read */
static int take(result_t *result)
{
    for (;;) {
        result->event = apppool_http_parser_next(&result->parser);
        switch (result->event) {
        case APPPOOL_HTTP_MORE:
            return 1;
        case APPPOOL_HTTP_INTERIM:
        case APPPOOL_HTTP_HEAD:
            must(result->parser.status >= 100 && result->parser.status < 1000);
            must((result->parser.status < 200) ==
                 (result->event == APPPOOL_HTTP_INTERIM));
            result->heads++;
            apr_table_do(see_field, result, result->parser.fields, NULL);
            break;
        case APPPOOL_HTTP_BODY:
            must(result->parser.framing != APPPOOL_HTTP_NO_BODY);
            collect(result);
            break;
        case APPPOOL_HTTP_END:
            return 0;
        case APPPOOL_HTTP_WRONG:
            must(result->parser.wrong != NULL);
            must(!apppool_http_parser_is_clean(&result->parser));
            return 0;
        }
    }
}

static void read_all(result_t *result, apr_pool_t *pool, const uint8_t *data,
                     size_t size, size_t piece, int is_head)
{
    apr_size_t room;
    size_t n;
    char *to;

    memset(result, 0, sizeof *result);
    apppool_http_parser_begin(&result->parser, pool, is_head);
    for (; size > 0; data += n, size -= n) {
        to = apppool_http_parser_room(&result->parser, &room);
        must(room > 0);
        n = size < piece ? size : piece;
        n = n < room ? n : room;
        memcpy(to, data, n);
        apppool_http_parser_fill(&result->parser, n);
        if (!take(result))
            return;
    }
    if (apppool_http_parser_end(&result->parser))
        take(result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static result_t whole, pieces;
    static apr_pool_t *pool;

    if (size < 1 || size > MOST)
        return 0;
    if (!pool) {
        apr_initialize();
        must(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    }
    read_all(&whole, pool, data + 1, size - 1, size, data[0] & 1);
    read_all(&pieces, pool, data + 1, size - 1, 1 + (size_t)data[0] / 2,
             data[0] & 1);
    must(whole.event == pieces.event && whole.n == pieces.n);
    must(!memcmp(whole.body, pieces.body, whole.n));
    must(whole.heads == pieces.heads && whole.fields == pieces.fields);
    must(whole.parser.status == pieces.parser.status);
    must(whole.parser.wrong == pieces.parser.wrong);
    must(whole.parser.framing == pieces.parser.framing);
    apr_pool_clear(pool);
    return 0;
}
