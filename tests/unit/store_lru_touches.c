/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What a slave is told of reads, so that it evicts as its master would. */

#include "store/cluster/lru_touches.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "store/clock.h"
#include "store/cluster/wire.h"
#include "tests/unit/support/shelf.h"

#define MANY    3000
#define A_TURN  61 /* s */
#define DELAYED 40 /* s by which a machine may be late */

static shelf_t shelf;
static store_lru_touches_t uses;
static store_sender_t sender;

static int setup(void **state)
{
    (void)state;
    shelf_open(&shelf, 64, 1);
    memset(&sender, 0, sizeof sender);
    sender.ours = 1;
    assert_int_equal(store_slave_link_open(&sender.out, NULL, 10), 0);
    store_lru_touches_begin(&uses);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    store_slave_link_close(&sender.out);
    shelf_close(&shelf);
    return 0;
}

static void read_one(const char *key)
{
    store_bucket_t b;
    store_item_t *item;

    store_index_lock(&b, shelf.space, key, (uint8_t)strlen(key));
    item = store_index_find(&b, NULL);
    assert_non_null(item);
    store_index_fetched(&b, item);
    store_index_unlock(&b);
}

/* The touches that were sent. */
typedef struct {
    unsigned n;
    store_packet_t last;
    char key[STORE_KEY_MAX + 1]; /* of the last one */
} told_t;

/* The outbox has no stream, so its bytes are taken from it. */
static void take(told_t *told)
{
    size_t at = 0;

    while (at < sender.out.n) {
        store_packet_t p;
        const char *key;
        int n =
            store_wire_head(sender.out.bytes + at, sender.out.n - at, &p, &key);

        assert_true(n > 0);
        at += (size_t)n;
        if (p.opcode == STORE_WIRE_SPACE)
            continue;
        assert_int_equal(p.opcode, STORE_WIRE_TOUCH);
        told->n++;
        told->last = p;
        memset(told->key, 0, sizeof told->key);
        memcpy(told->key, key, p.klen);
    }
    sender.out.n = 0;
}

/* All that is told until some time has passed. */
static told_t run(void)
{
    told_t told = {0};
    int rv;

    do {
        rv = store_lru_touches_run(&uses, &shelf.space, 1, &sender);
        assert_true(rv >= 0);
        take(&told);
    } while (rv > 0);
    return told;
}

/* The slave has said something in the next second. */
static void answer(void)
{
    sender.out.heard++;
    uses.second -= 1000;
}

static void what_was_read_is_told_once(void **state)
{
    uint32_t exptime = store_clock() + 5000;
    uint64_t cas;
    told_t told;

    (void)state;
    cas = shelf_set(&shelf, "read", 1, 10, exptime);
    shelf_set(&shelf, "written", 2, 10, 0);
    shelf_set(&shelf, "neither", 3, 10, 0);
    read_one("written");
    shelf_later(&shelf, 10);
    read_one("read");
    shelf_set(&shelf, "written", 4, 10, 0);
    answer();
    assert_int_equal(run().n, 0);
    shelf_later(&shelf, A_TURN);
    told = run();
    assert_int_equal(told.n, 1);
    assert_string_equal(told.key, "read");
    assert_true(told.last.cas == cas);
    assert_in_range(store_wire_age(told.last.bits), A_TURN, A_TURN + DELAYED);
    assert_in_range(told.last.exptime, exptime - store_clock() - 1,
                    exptime - store_clock() + DELAYED);
    shelf_later(&shelf, 2 * A_TURN);
    answer();
    assert_int_equal(run().n, 0);
}

static void a_space_that_evicts_is_looked_at_sooner(void **state)
{
    (void)state;
    shelf_set(&shelf, "a", 1, 10, 0);
    shelf_later(&shelf, 3);
    read_one("a");
    answer();
    assert_int_equal(run().n, 0);
    STORE_SET(shelf.space->figures->evictions, 1);
    STORE_SET(shelf.space->figures->evicted_age, 12);
    assert_int_equal(run().n, 1);
}

static void
a_slave_is_told_some_in_a_second_and_only_if_it_answers(void **state)
{
    char key[16];
    unsigned i, n, all = 0;

    (void)state;
    for (i = 0; i < MANY; i++) {
        snprintf(key, sizeof key, "k%u", i);
        shelf_set(&shelf, key, i, 10, 0);
        read_one(key);
    }
    shelf_later(&shelf, A_TURN);
    uses.second -= 1000;
    assert_int_equal(run().n, 0);
    for (i = 0; i < MANY && all < MANY; i++) {
        answer();
        all += n = run().n;
        assert_in_range(n, 1, 1024 + STORE_LRU_TOUCHES_ROOM);
        uses.second -= 1000;
        assert_int_equal(run().n, 0);
    }
    assert_int_equal(all, MANY);
    shelf_check(&shelf);
}

static void a_yrmcds_is_told_none(void **state)
{
    (void)state;
    shelf_set(&shelf, "a", 1, 10, 0);
    read_one("a");
    shelf_later(&shelf, A_TURN);
    answer();
    sender.ours = 0;
    assert_int_equal(run().n, 0);
    sender.ours = 1;
    assert_int_equal(run().n, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_read_is_told_once, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_space_that_evicts_is_looked_at_sooner,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_slave_is_told_some_in_a_second_and_only_if_it_answers, setup,
            teardown),
        cmocka_unit_test_setup_teardown(a_yrmcds_is_told_none, setup, teardown),
    };

    alarm(300);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
