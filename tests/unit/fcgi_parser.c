/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What a FastCGI app sends, in pieces of any size. */

#include "mod_apppool/backend/fcgi_parser.h"

#include <stdio.h>
#include <string.h>

#include "mod_apppool/backend/fcgi_format.h"
#include "tests/unit/support/scene.h"

#define ID 0x201 /* of the request */

/* Records, one behind the other. */
typedef struct {
    char bytes[200000];
    size_t n;
} sent_t;

static sent_t sent;

static void put(const void *bytes, size_t n)
{
    memcpy(sent.bytes + sent.n, bytes, n);
    sent.n += n;
}

static void put_record(int version, int type, int id, const char *content,
                       size_t n, size_t padding)
{
    const unsigned char head[] = {(unsigned char)version,   (unsigned char)type,
                                  (unsigned char)(id >> 8), (unsigned char)id,
                                  (unsigned char)(n >> 8),  (unsigned char)n,
                                  (unsigned char)padding,   0};
    static const char nothing[255];

    put(head, sizeof head);
    put(content, n);
    put(nothing, padding);
}

static void put_text(int type, const char *text, size_t padding)
{
    put_record(1, type, ID, text, strlen(text), padding);
}

/* What came out: "o" and "e" for each byte of STDOUT and STDERR and so on. */
static char parsed[200000];
static size_t n_parsed;

static void receive(char kind, const char *bytes, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++) {
        parsed[n_parsed++] = kind;
        parsed[n_parsed++] = bytes[i];
    }
}

/* @return the last event: END, WRONG or MORE */
static apppool_fcgi_event_t read_all(apppool_fcgi_parser_t *parser,
                                     size_t first, size_t piece)
{
    apppool_fcgi_event_t event = APPPOOL_FCGI_MORE;
    size_t at, n;

    memset(parser, 0, sizeof *parser);
    parser->request = ID;
    n_parsed = 0;
    for (at = 0; at < sent.n; at += n) {
        n = at == 0 && first ? first : piece;
        if (n > sent.n - at)
            n = sent.n - at;
        apppool_fcgi_parser_give(parser, sent.bytes + at, n);
        while ((event = apppool_fcgi_parser_next(parser)) !=
               APPPOOL_FCGI_MORE) {
            if (event == APPPOOL_FCGI_END || event == APPPOOL_FCGI_WRONG)
                return event;
            if (event == APPPOOL_FCGI_STDOUT_END)
                receive('.', ".", 1);
            else
                receive(event == APPPOOL_FCGI_STDOUT ? 'o' : 'e', parser->piece,
                        parser->piece_size);
        }
    }
    return event;
}

static void begin(void)
{
    sent.n = 0;
}

/* A response with everything that it may contain. */
static void put_response(void)
{
    static const char end[] = "\1\2\3\4\0\0\0";

    put_text(FCGI_STDOUT, "Status: 200 OK\r\n", 0);
    put_text(FCGI_STDERR, "a warning\n", 6);
    put_text(FCGI_STDERR, "", 255);
    put_text(FCGI_STDOUT, "\r\nbody", 1);
    put_text(FCGI_STDOUT, "", 3);
    put_text(FCGI_STDERR, "late", 0);
    put_record(1, FCGI_END_REQUEST, ID, end, 8, 2);
}

/* Each place where it may be cut in two, and pieces of each size. */
static void a_response_in_any_pieces(void **state)
{
    static char whole[4096];
    apppool_fcgi_parser_t parser;
    size_t n_whole, first, piece;

    (void)state;
    begin();
    put_response();
    assert_int_equal(read_all(&parser, 0, sent.n), APPPOOL_FCGI_END);
    n_whole = n_parsed;
    memcpy(whole, parsed, n_whole);
    assert_int_equal(n_whole, 2 * (16 + 10 + 6 + 1 + 4));
    for (first = 0; first <= sent.n; first++)
        for (piece = 1; piece <= sent.n; piece++) {
            assert_int_equal(read_all(&parser, first, piece), APPPOOL_FCGI_END);
            assert_int_equal(n_parsed, n_whole);
            assert_memory_equal(parsed, whole, n_whole);
            assert_true(apppool_fcgi_parser_is_clean(&parser));
            assert_int_equal(parser.app_status, 0x01020304);
            assert_int_equal(parser.status, FCGI_REQUEST_COMPLETE);
            assert_true(parser.stdout_ended);
        }
}

static void not_before_its_last_byte(void **state)
{
    apppool_fcgi_parser_t parser;
    size_t all;

    (void)state;
    begin();
    put_response();
    for (all = sent.n, sent.n = 0; sent.n < all; sent.n++) {
        assert_int_equal(read_all(&parser, 0, 7), APPPOOL_FCGI_MORE);
        assert_false(parser.ended);
        assert_false(apppool_fcgi_parser_is_clean(&parser));
    }
}

static void more_after_the_end_is_not_clean(void **state)
{
    apppool_fcgi_parser_t parser;

    (void)state;
    begin();
    put_response();
    put("x", 1);
    assert_int_equal(read_all(&parser, 0, sent.n), APPPOOL_FCGI_END);
    assert_true(parser.ended);
    assert_false(apppool_fcgi_parser_is_clean(&parser));
    assert_int_equal(apppool_fcgi_parser_next(&parser), APPPOOL_FCGI_END);
}

static void is_wrong(const char *why, unsigned number)
{
    apppool_fcgi_parser_t parser;
    size_t piece;

    for (piece = 1; piece <= sent.n; piece++) {
        assert_int_equal(read_all(&parser, 0, piece), APPPOOL_FCGI_WRONG);
        assert_non_null(strstr(parser.wrong, why));
        assert_int_equal(parser.wrong_number, number);
        assert_int_equal(apppool_fcgi_parser_next(&parser), APPPOOL_FCGI_WRONG);
    }
}

static void what_is_wrong(void **state)
{
    static const char end[9];
    int type;

    (void)state;
    begin();
    put_record(2, FCGI_STDOUT, ID, "x", 1, 0);
    is_wrong("version", 2);
    begin();
    put_record(0, FCGI_STDOUT, ID, "x", 1, 0);
    is_wrong("version", 0);
    begin();
    put_record(1, FCGI_STDOUT, 2, "x", 1, 0);
    is_wrong("for request", 2);
    begin();
    put_record(1, FCGI_STDOUT, 0x101, "x", 1, 0);
    is_wrong("for request", 0x101);
    begin();
    put_record(1, FCGI_END_REQUEST, 0, end, 8, 0);
    is_wrong("for request", 0);
    for (type = 0; type < 256; type++) {
        if (type == FCGI_STDOUT || type == FCGI_STDERR ||
            type == FCGI_END_REQUEST)
            continue;
        begin();
        put_record(1, type, ID, end, 8, 0);
        is_wrong("of type", (unsigned)type);
    }
    begin();
    put_record(1, FCGI_END_REQUEST, ID, end, 7, 0);
    is_wrong("length", 7);
    begin();
    put_record(1, FCGI_END_REQUEST, ID, end, 9, 0);
    is_wrong("length", 9);
    begin();
    put_text(FCGI_STDOUT, "", 0);
    put_text(FCGI_STDOUT, "xy", 0);
    is_wrong("after the end", 2);
    begin();
    put_text(FCGI_STDOUT, "", 0);
    put_text(FCGI_STDOUT, "", 0);
    is_wrong("after the end", 0);
}

static void the_largest_record(void **state)
{
    static char content[FCGI_MOST];
    static const char end[8];
    apppool_fcgi_parser_t parser;

    (void)state;
    memset(content, 'x', sizeof content);
    begin();
    put_record(1, FCGI_STDOUT, ID, content, sizeof content, 255);
    put_record(1, FCGI_END_REQUEST, ID, end, 8, 255);
    assert_int_equal(read_all(&parser, 0, 1000), APPPOOL_FCGI_END);
    assert_int_equal(n_parsed, 2 * FCGI_MOST);
    assert_true(apppool_fcgi_parser_is_clean(&parser));
}

/* The parts of the end of a request are not mixed up. */
static void all_that_the_end_says(void **state)
{
    apppool_fcgi_parser_t parser;
    unsigned status;

    (void)state;
    for (status = 0; status < 256; status++) {
        const char end[] = {'\377', 0, 0, 7, (char)status, 9, 9, 9};

        begin();
        put_record(1, FCGI_END_REQUEST, ID, end, 8, 0);
        assert_int_equal(read_all(&parser, 0, 3), APPPOOL_FCGI_END);
        assert_int_equal(parser.status, status);
        assert_int_equal(parser.app_status, 0xff000007);
        assert_false(parser.stdout_ended);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_response_in_any_pieces),
        cmocka_unit_test(not_before_its_last_byte),
        cmocka_unit_test(more_after_the_end_is_not_clean),
        cmocka_unit_test(what_is_wrong),
        cmocka_unit_test(the_largest_record),
        cmocka_unit_test(all_that_the_end_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
