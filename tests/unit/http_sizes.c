/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* How much memory a response over HTTP takes, and what is too long. */

#include <stdio.h>
#include <string.h>

#include "mod_apppool/backend/header_size.h"
#include "tests/unit/support/http_reader.h"
#include "tests/unit/support/scene.h"

static void a_large_body_takes_no_memory(void **state)
{
    enum { SIZE = 4 << 20 };
    apppool_http_parser_t parser;
    apppool_http_event_t event;
    const char *buffers[3] = {NULL};
    size_t left = SIZE, body = 0, changes = 0;
    char head[100];
    apr_size_t room;
    char *to;

    (void)state;
    sprintf(head, OK "Content-Length: %d\r\n\r\n", SIZE);
    assert_int_equal(http_read_text(&parser, head), APPPOOL_HTTP_MORE);
    while (left > 0) {
        to = apppool_http_parser_room(&parser, &room);
        if (buffers[0] != to && changes < 3)
            buffers[changes++] = buffers[0] = to;
        room = room < left ? room : left;
        memset(to, 'x', room);
        left -= room;
        apppool_http_parser_fill(&parser, room);
        while ((event = apppool_http_parser_next(&parser)) == APPPOOL_HTTP_BODY)
            body += parser.size;
    }
    assert_int_equal(event, APPPOOL_HTTP_END);
    assert_int_equal(body, SIZE);
    assert_true(changes <= 2);
    assert_string_equal(apr_table_get(parser.fields, "Content-Length"),
                        "4194304");
}

/* A header that grows over several buffers, and one that is too long. */
static void a_long_header(void **state)
{
    static char text[200000];
    apppool_http_parser_t parser;
    size_t n = (size_t)sprintf(text, OK), size;

    (void)state;
    while (n < 60000)
        n += (size_t)sprintf(text + n, "X-%zu: %0*d\r\n", n, 900, 7);
    size = n + (size_t)sprintf(text + n, "Content-Length: 2\r\n\r\nok");
    assert_int_equal(http_read_all(&parser, text, size, 0, 1000, 0),
                     APPPOOL_HTTP_END);
    assert_true(apppool_http_parser_is_clean(&parser));
    assert_int_equal(strlen(apr_table_get(parser.fields, "X-17")), 900);
    memset(text + n, 'x', APPPOOL_HEADER_MOST);
    assert_int_equal(
        http_read_all(&parser, text, n + APPPOOL_HEADER_MOST, 0, 1000, 0),
        APPPOOL_HTTP_WRONG);
    assert_string_equal(
        parser.wrong, "the header of the response has more than 65536 bytes; "
                      "its longest field is xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                      "xxxxx");
    for (n = 0; n < 2 * APPPOOL_HEADER_MOST; n += 2)
        memcpy(text + n, "\r\n", 2);
    assert_int_equal(http_read_all(&parser, text, n, 0, 1000, 0),
                     APPPOOL_HTTP_WRONG);
}

static void a_long_extension(void **state)
{
    char text[2000];
    apppool_http_parser_t parser;
    int n = sprintf(text, OK CHUNKED "\r\n1;");

    (void)state;
    memset(text + n, 'x', 1100);
    text[n + 1100] = 0;
    assert_int_equal(http_read_text(&parser, text), APPPOOL_HTTP_WRONG);
    assert_string_equal(parser.wrong, "the extension of a chunk is too long");
}

static void a_long_trailer(void **state)
{
    static char text[APPPOOL_HTTP_TRAILER + 1000];
    apppool_http_parser_t parser;
    int n = sprintf(text, OK CHUNKED "\r\n0\r\nA: ");

    (void)state;
    memset(text + n, 'x', APPPOOL_HTTP_TRAILER);
    assert_int_equal(http_read_text(&parser, text), APPPOOL_HTTP_WRONG);
    assert_string_equal(parser.wrong,
                        "the trailer of the response is too long");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_body_takes_no_memory),
        cmocka_unit_test(a_long_header),
        cmocka_unit_test(a_long_extension),
        cmocka_unit_test(a_long_trailer),
    };

    return cmocka_run_group_tests(tests, http_reader_begin, http_reader_end);
}
