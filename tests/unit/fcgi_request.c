/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The records of a FastCGI request. */

#include "mod_apppool/backend/fcgi_request.h"

#include <apr_general.h>
#include <string.h>

#include "mod_apppool/backend/fcgi_format.h"
#include "tests/unit/support/scene.h"

#define ID 0xabcd /* of the request */

static apr_pool_t *pool;

static int begin(void **state)
{
    (void)state;
    apr_initialize();
    apr_pool_create(&pool, NULL);
    return 0;
}

/* The content of the parameters, and the size of each record. */
static unsigned char params[400000];
static size_t n_params, records, sizes[100];

static unsigned number_at(const unsigned char *at)
{
    return (unsigned)at[0] << 8 | at[1];
}

/* A header of this type. @return bytes of its content */
static size_t is_record(const unsigned char *at, int type)
{
    assert_int_equal(at[0], FCGI_VERSION);
    assert_int_equal(at[1], type);
    assert_int_equal(number_at(at + 2), ID);
    assert_int_equal(at[6], 0);
    return number_at(at + 4);
}

static void read_request(const apr_table_t *table, int ends)
{
    static const unsigned char role[] = {
        0, FCGI_RESPONDER, FCGI_KEEP_CONN, 0, 0, 0, 0, 0};
    apr_size_t all;
    apppool_fcgi_begin_t begin = {.request = ID, .keeps = 1, .ends = ends};
    const unsigned char *at = apppool_fcgi_request_make(pool, table, &begin,
                                                        &all),
                        *end = at + all;
    size_t n;

    n_params = records = 0;
    assert_int_equal(is_record(at, FCGI_BEGIN_REQUEST), 8);
    assert_memory_equal(at + FCGI_HEADER, role, sizeof role);
    at += FCGI_HEADER + 8;
    while ((n = is_record(at, FCGI_PARAMS)) > 0) {
        at += FCGI_HEADER;
        memcpy(params + n_params, at, n);
        n_params += n;
        sizes[records++] = n;
        at += n;
    }
    at += FCGI_HEADER;
    if (ends) {
        assert_int_equal(is_record(at, FCGI_STDIN), 0);
        at += FCGI_HEADER;
    }
    assert_ptr_equal(at, end);
}

static size_t length_at(size_t *at)
{
    size_t n = params[*at];

    if (n < 0x80) {
        *at += 1;
        return n;
    }
    n = (n & 0x7f) << 24 | (size_t)params[*at + 1] << 16 |
        (size_t)params[*at + 2] << 8 | params[*at + 3];
    *at += 4;
    return n;
}

/* All pairs, in their order, and nothing else. */
static void is_whole(const apr_table_t *table)
{
    const apr_array_header_t *all = apr_table_elts(table);
    const apr_table_entry_t *pairs = (const apr_table_entry_t *)all->elts;
    size_t at = 0, names, values;
    int i;

    for (i = 0; i < all->nelts; i++) {
        names = length_at(&at);
        values = length_at(&at);
        assert_int_equal(names, strlen(pairs[i].key));
        assert_int_equal(values, strlen(pairs[i].val));
        assert_memory_equal(params + at, pairs[i].key, names);
        assert_memory_equal(params + at + names, pairs[i].val, values);
        at += names + values;
    }
    assert_int_equal(at, n_params);
}

static char *text_of(size_t n)
{
    char *text = apr_palloc(pool, n + 1);

    memset(text, 'v', n);
    text[n] = 0;
    return text;
}

static void pairs_of_any_length(void **state)
{
    static const size_t lengths[] = {0,     1,     126,    127,   128,   129,
                                     16370, 16384, 16385,  65520, 65527, 65528,
                                     65535, 65536, 131070, 200000};
    size_t i;

    (void)state;
    for (i = 0; i < 2 * sizeof lengths / sizeof *lengths; i++) {
        apr_table_t *table = apr_table_make(pool, 4);
        const char *text = text_of(lengths[i / 2]);

        apr_table_addn(table, "FIRST", "1");
        if (i % 2)
            apr_table_addn(table, text, "x");
        else
            apr_table_addn(table, "X", text);
        apr_table_addn(table, "LAST", "");
        read_request(table, (int)i % 2);
        is_whole(table);
    }
}

static void no_pairs(void **state)
{
    apr_table_t *table = apr_table_make(pool, 4);

    (void)state;
    read_request(table, 1);
    assert_int_equal(records, 0);
    read_request(table, 0);
    assert_int_equal(records, 0);
}

/* php-cgi reads each record by itself. */
static void a_pair_stands_in_one_record(void **state)
{
    apr_table_t *table = apr_table_make(pool, 100);
    size_t i, at, pair = 4 + 1 + 1000 + 1;

    (void)state;
    for (i = 0; i < 100; i++)
        apr_table_addn(table, text_of(1000), text_of(1));
    apr_table_addn(table, "LARGE", text_of(60000));
    read_request(table, 1);
    is_whole(table);
    for (i = 0, at = 0; i + 1 < records; i++) {
        assert_in_range(sizes[i], 1, 16 * 1024);
        assert_int_equal(sizes[i] % pair, 0);
        at += sizes[i];
    }
    assert_int_equal(sizes[records - 1], 1 + 4 + 5 + 60000);
    assert_int_equal(at, 100 * pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_of_any_length),
        cmocka_unit_test(no_pairs),
        cmocka_unit_test(a_pair_stands_in_one_record),
    };

    return cmocka_run_group_tests(tests, begin, NULL);
}
