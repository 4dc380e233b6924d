/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The header of a uwsgi response. */

#include "mod_apppool/backend/uwsgi_head.h"

#include <apr_general.h>
#include <apr_strings.h>
#include <string.h>

#include "tests/unit/support/scene.h"

static apr_pool_t *pool;
static apr_bucket_alloc_t *list;

static int begin(void **state)
{
    (void)state;
    apr_initialize();
    apr_pool_create(&pool, NULL);
    list = apr_bucket_alloc_create(pool);
    return 0;
}

/* @return what it becomes; NULL: something is wrong with it */
static const char *converted(const char *text, size_t n)
{
    apr_bucket_brigade *bb = apr_brigade_create(pool, list);
    char *result;
    apr_size_t size;
    size_t half = n / 2;

    apr_brigade_write(bb, NULL, NULL, text, half);
    APR_BRIGADE_INSERT_TAIL(
        bb, apr_bucket_transient_create(text + half, n - half, list));
    if (apppool_uwsgi_head_convert(bb, pool) != NULL)
        return NULL;
    apr_brigade_pflatten(bb, &result, &size, pool);
    result = apr_pstrmemdup(pool, result, size);
    return result;
}

static void becomes(const char *text, const char *expected)
{
    assert_string_equal(converted(text, strlen(text)), expected);
}

static void is_wrong(const char *text)
{
    assert_null(converted(text, strlen(text)));
}

static void a_status_line_becomes_a_field(void **state)
{
    (void)state;
    becomes("HTTP/1.1 200 OK\r\nA: b\r\n\r\n",
            "Status: 200 OK\r\nA: b\r\n\r\n");
    becomes("HTTP/1.0 404 Not Found\n\n", "Status: 404 Not Found\n\n");
    becomes("HTTP/2 599\r\n\r\n", "Status: 599\r\n\r\n");
    becomes("HTTP/1.1 302\n\n", "Status: 302\n\n");
}

static void others_are_none(void **state)
{
    static const char *const heads[] = {
        "\r\n",
        "Status: 200 OK\r\n\r\n",
        "HTTP/1.1\r\n\r\n",
        "HTTP/1.1 \r\n\r\n",
        "HTTP/x 200 OK\r\n\r\n",
        "HTTP/1. 200 OK\r\n\r\n",
        "HTTP/11 200 OK\r\n\r\n",
        "HTTP/1.1200 OK\r\n\r\n",
        "HTTP/1.1 20\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 20x OK\r\n\r\n",
        "HTTP/1.1 600 What\r\n\r\n",
        /* Its client would wait for another response, and take the next. */
        "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 199 Why\r\n\r\n",
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof heads / sizeof *heads; i++)
        is_wrong(heads[i]);
    assert_null(converted("HTTP/1.1 200 OK\r\nA: \0\r\n\r\n", 25));
}

static void one_length(void **state)
{
    (void)state;
    becomes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n",
            "Status: 200 OK\r\nContent-Length: 2\r\n\r\n");
    is_wrong("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nA: b\r\n"
             "content-length: 3\r\n\r\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_status_line_becomes_a_field),
        cmocka_unit_test(others_are_none),
        cmocka_unit_test(one_length),
    };

    return cmocka_run_group_tests(tests, begin, NULL);
}
