/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The packet of a request over scgi and over uwsgi. */

#include "mod_apppool/backend/bare_packet.h"

#include <apr_general.h>
#include <string.h>

#include "tests/unit/support/scene.h"

static apr_pool_t *pool;

static int begin(void **state)
{
    (void)state;
    apr_initialize();
    apr_pool_create(&pool, NULL);
    return 0;
}

/* ---- scgi ---- */

/* @param want ends with a zero byte that does not belong to it */
static void is_packet(const apr_table_t *table, const char *want, size_t size)
{
    apr_size_t n = 0;
    const unsigned char *bytes = apppool_bare_packet_scgi(pool, table, &n);

    assert_int_equal(n, size - 1);
    assert_memory_equal(bytes, want, n);
}

#define IS_PACKET(table, want) is_packet(table, want, sizeof want)

static void scgi_without_a_body(void **state)
{
    apr_table_t *table = apr_table_make(pool, 4);

    (void)state;
    IS_PACKET(table, "24:CONTENT_LENGTH\0"
                     "0\0"
                     "SCGI\0"
                     "1\0"
                     ",");
    apr_table_addn(table, "A", "one");
    apr_table_addn(table, "BC", NULL);
    IS_PACKET(table, "34:CONTENT_LENGTH\0"
                     "0\0"
                     "SCGI\0"
                     "1\0"
                     "A\0"
                     "one\0"
                     "BC\0"
                     "\0"
                     ",");
}

/* Its length comes first, whatever the place in the table is. */
static void scgi_with_a_body(void **state)
{
    apr_table_t *table = apr_table_make(pool, 4);

    (void)state;
    apr_table_addn(table, "A", "");
    apr_table_addn(table, "CONTENT_LENGTH", "27");
    IS_PACKET(table, "28:CONTENT_LENGTH\0"
                     "27\0"
                     "SCGI\0"
                     "1\0"
                     "A\0"
                     "\0"
                     ",");
}

static void scgi_variables_that_are_not_sent(void **state)
{
    apr_table_t *table = apr_table_make(pool, 4);

    (void)state;
    apr_table_addn(table, "SCGI", "7");
    apr_table_addn(table, "GATEWAY_INTERFACE", "CGI/1.1");
    apr_table_addn(table, "APPPOOL_PID", "1");
    IS_PACKET(table, "24:CONTENT_LENGTH\0"
                     "0\0"
                     "SCGI\0"
                     "1\0"
                     ",");
}

/* ---- uwsgi ---- */

static char *text_of(size_t n)
{
    char *text = apr_palloc(pool, n + 1);

    memset(text, 'v', n);
    text[n] = 0;
    return text;
}

static void uwsgi_byte_for_byte(void **state)
{
    static const unsigned char packet[] = {0,   14,  0,   0, 1, 0,   'A', 3, 0,
                                           'o', 'n', 'e', 2, 0, 'B', 'C', 0, 0};
    apr_table_t *table = apr_table_make(pool, 4);
    apr_size_t n = 0;
    const unsigned char *bytes;

    (void)state;
    apr_table_addn(table, "A", "one");
    apr_table_addn(table, "BC", NULL);
    bytes = apppool_bare_packet_uwsgi(pool, table, &n);
    assert_int_equal(n, sizeof packet);
    assert_memory_equal(bytes, packet, n);
}

static void uwsgi_numbers_of_two_bytes(void **state)
{
    apr_table_t *table = apr_table_make(pool, 4);
    apr_size_t n = 0;
    const unsigned char *bytes;

    (void)state;
    apr_table_addn(table, "A", text_of(0x1234));
    bytes = apppool_bare_packet_uwsgi(pool, table, &n);
    assert_int_equal(n, UWSGI_HEADER + 5 + 0x1234);
    assert_int_equal(bytes[1], (0x1234 + 5) & 0xff);
    assert_int_equal(bytes[2], (0x1234 + 5) >> 8);
    assert_int_equal(bytes[UWSGI_HEADER + 3], 0x34);
    assert_int_equal(bytes[UWSGI_HEADER + 4], 0x12);
    assert_int_equal(bytes[n - 1], 'v');
}

static void uwsgi_without_notes_for_the_log(void **state)
{
    apr_table_t *table = apr_table_make(pool, 4);
    apr_size_t n = 0;

    (void)state;
    apr_table_addn(table, "APPPOOL_PID", "1");
    apr_table_addn(table, "APPPOOL_QUEUE_MS", "22");
    apr_table_addn(table, "APPPOOL_APP_MS", "333");
    assert_non_null(apppool_bare_packet_uwsgi(pool, table, &n));
    assert_int_equal(n, UWSGI_HEADER);
    apr_table_addn(table, "APPPOOL_PIDS", "4444");
    assert_non_null(apppool_bare_packet_uwsgi(pool, table, &n));
    assert_int_equal(n, UWSGI_HEADER + 4 + 12 + 4);
}

static void uwsgi_no_more_than_fits(void **state)
{
    apr_table_t *table = apr_table_make(pool, 4);
    apr_size_t n = 0;

    (void)state;
    apr_table_addn(table, "A", text_of(UWSGI_MOST - 5));
    assert_non_null(apppool_bare_packet_uwsgi(pool, table, &n));
    assert_int_equal(n, UWSGI_HEADER + UWSGI_MOST);
    apr_table_addn(table, "", "");
    assert_null(apppool_bare_packet_uwsgi(pool, table, &n));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scgi_without_a_body),
        cmocka_unit_test(scgi_with_a_body),
        cmocka_unit_test(scgi_variables_that_are_not_sent),
        cmocka_unit_test(uwsgi_byte_for_byte),
        cmocka_unit_test(uwsgi_numbers_of_two_bytes),
        cmocka_unit_test(uwsgi_without_notes_for_the_log),
        cmocka_unit_test(uwsgi_no_more_than_fits),
    };

    return cmocka_run_group_tests(tests, begin, NULL);
}
