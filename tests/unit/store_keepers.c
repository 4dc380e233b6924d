/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Slaves that keep their own data: they get the master's hello, and no item. */

#include <stdlib.h>

#include "store/cluster/store_claim.h"
#include "store/cluster/hello.h"
#include "store/cluster/history.h"
#include "store/memory/changes.h"
#include "store/memory/region.h"
#include "tests/unit/support/notes.h"
#include "tests/unit/support/slave.h"

/* A hello with this epoch. */
static slave_t *join(uint64_t id, uint64_t position)
{
    const store_history_t h = {.n = 1,
                               .epoch = {{.id = id, .position = position}}};
    unsigned char *hello;
    slave_t *s;
    size_t n;

    hello = store_hello_of(NULL, 0, &h, 0, &n);
    assert_non_null(hello);
    s = slave_begin("127.0.0.1", hello, n);
    free(hello);
    return s;
}

static void set_history(void)
{
    store_region_directory()->history =
        (store_history_t){.n = 1, .epoch = {{.id = 7, .position = 10}}};
    store_changes_count_in(
        &store_region_directory()->history.epoch[0].position);
    store_claim_clear();
}

static void one_with_more_gets_the_hello_only(void **state)
{
    slave_t *s;

    (void)state;
    shelf_set(&shelf, "a", 1, 10, 0);
    set_history();
    s = join(7, 11);
    slave_read_to_end(s);
    assert_int_equal(s->packets[STORE_WIRE_HELLO], 1);
    assert_int_equal(s->packets[STORE_WIRE_SPACE], 0);
    assert_int_equal(s->n, 0);
    master_wait_log("127.0.0.1 does not follow this master, because it has "
                    "better data: 1 changes");
    assert_true(store_claim_is_there());
    assert_int_equal(notes_count("joined"), 0);
    assert_int_equal(STORE_GET(store_region_figures()->cluster.dropped), 0);
    slave_close(s);
    store_changes_count_in(NULL);
}

static void one_with_less_gets_the_copy(void **state)
{
    slave_t *s;

    (void)state;
    shelf_set(&shelf, "a", 1, 10, 0);
    set_history();
    s = join(7, 10);
    assert_true(slave_read(s, STORE_WIRE_COMPLETE, 1));
    assert_false(store_claim_is_there());
    slave_close(s);
    store_changes_count_in(NULL);
}

int main(void)
{
#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, master_open, master_close)
    const struct CMUnitTest tests[] = {
        TEST(one_with_more_gets_the_hello_only),
        TEST(one_with_less_gets_the_copy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
