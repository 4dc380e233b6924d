/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The packet of a request over SCGI. */

#include "mod_apppool/backend/scgi_request.h"

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

/* @param want ends with a zero byte that does not belong to it */
static void is_packet(const apr_table_t *table, const char *want, size_t size)
{
    apr_size_t n = 0;
    const unsigned char *bytes = apppool_scgi_request_make(pool, table, &n);

    assert_int_equal(n, size - 1);
    assert_memory_equal(bytes, want, n);
}

#define IS_PACKET(table, want) is_packet(table, want, sizeof want)

static void without_a_body(void **state)
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
static void with_a_body(void **state)
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

static void variables_that_are_not_sent(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_body),
        cmocka_unit_test(with_a_body),
        cmocka_unit_test(variables_that_are_not_sent),
    };

    return cmocka_run_group_tests(tests, begin, NULL);
}
