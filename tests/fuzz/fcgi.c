/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The bytes of a FastCGI app: any bytes, in any pieces. The result is the same
 * for all pieces.
 *
 * Input: a byte (the size of the pieces), and the bytes that are sent. */

#include "mod_apppool/backend/fcgi_parser.h"

#include <stdlib.h>
#include <string.h>

#include "mod_apppool/backend/fcgi_format.h"
#include "tests/fuzz/fuzz.h"

/* What came out. */
typedef struct {
    uint8_t text[2][8192]; /* of STDOUT, of STDERR */
    size_t n[2];
    int ends;                   /* of STDOUT */
    apppool_fcgi_event_t event; /* the last one */
    apppool_fcgi_parser_t parser;
} result_t;

static void must(int truth)
{
    if (!truth)
        abort();
}

/* A piece is within the input, and is not empty. */
static void collect(result_t *result, int which, const char *given, size_t n)
{
    const apppool_fcgi_parser_t *parser = &result->parser;

    must(parser->piece >= given && parser->piece_size > 0 &&
         parser->piece + parser->piece_size <= given + n);
    must(result->n[which] + parser->piece_size <= sizeof result->text[which]);
    memcpy(result->text[which] + result->n[which], parser->piece,
           parser->piece_size);
    result->n[which] += parser->piece_size;
}

/* @return 0: no more is read */
static int take(result_t *result, const char *given, size_t n)
{
    for (;;) {
        result->event = apppool_fcgi_parser_next(&result->parser);
        switch (result->event) {
        case APPPOOL_FCGI_MORE:
            return 1;
        case APPPOOL_FCGI_STDOUT:
            must(!result->parser.stdout_ended);
            collect(result, 0, given, n);
            break;
        case APPPOOL_FCGI_STDERR:
            collect(result, 1, given, n);
            break;
        case APPPOOL_FCGI_STDOUT_END:
            must(++result->ends == 1 && result->parser.stdout_ended);
            break;
        case APPPOOL_FCGI_END:
            must(result->parser.ended && result->parser.status < 256);
            return 0;
        case APPPOOL_FCGI_WRONG:
            must(result->parser.wrong != NULL);
            return 0;
        }
    }
}

static void read_all(result_t *result, const uint8_t *data, size_t size,
                     size_t piece)
{
    size_t n;

    memset(result, 0, sizeof *result);
    result->parser.request = 1;
    while (size > 0) {
        /* A copy, so that a sanitizer sees reads behind its end. */
        char *given;

        n = size < piece ? size : piece;
        given = malloc(n);
        must(given != NULL);
        memcpy(given, data, n);
        apppool_fcgi_parser_give(&result->parser, given, n);
        if (!take(result, given, n))
            size = n;
        free(given);
        data += n;
        size -= n;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static result_t whole, pieces;

    if (size < 1 || size > sizeof whole.text[0])
        return 0;
    read_all(&whole, data + 1, size - 1, size);
    read_all(&pieces, data + 1, size - 1, 1 + (size_t)data[0]);
    must(whole.event == pieces.event ||
         (whole.event < APPPOOL_FCGI_END && pieces.event < APPPOOL_FCGI_END));
    must(whole.n[0] == pieces.n[0] && whole.n[1] == pieces.n[1]);
    must(!memcmp(whole.text[0], pieces.text[0], whole.n[0]));
    must(!memcmp(whole.text[1], pieces.text[1], whole.n[1]));
    must(whole.ends == pieces.ends);
    must(whole.parser.ended == pieces.parser.ended);
    must(whole.parser.status == pieces.parser.status);
    must(whole.parser.app_status == pieces.parser.app_status);
    must(whole.parser.wrong == pieces.parser.wrong);
    must(whole.parser.wrong_number == pieces.parser.wrong_number);
    return 0;
}
