/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Random steps over a space and over a simple model of it. WALKS and SEED as in
 * unit/walk. */

#include <stdio.h>
#include <stdlib.h>

#include "store/clock.h"
#include "tests/unit/support/shelf.h"

#define KEYS  400
#define STEPS 4000

typedef struct {
    int there;
    uint32_t seed, length, exptime;
} entry_t;

static shelf_t shelf;
static entry_t model[KEYS];
static uint32_t next_seed;
static unsigned lost; /* by eviction */

static unsigned any(unsigned n)
{
    return (unsigned)rand() % n;
}

static const char *key_of(unsigned i)
{
    static char key[300];

    /* Some of them are long. */
    snprintf(key, sizeof key, "%0*u", i % 7 ? 1 + (int)i % 20 : 240, i);
    return key;
}

static uint32_t any_length(void)
{
    static const uint32_t most[] = {10, 100, 500, 5000, 9000, 60000};

    return any(most[any(6)]);
}

static int is_there(const entry_t *entry)
{
    return entry->there &&
           (entry->exptime == 0 || entry->exptime > store_clock());
}

static void set_one(unsigned i, int may_fail)
{
    entry_t *entry = &model[i];
    uint32_t length = any_length();
    uint32_t exptime = any(4) ? 0 : store_clock_exptime(1 + any(300));

    if (!shelf_set(&shelf, key_of(i), ++next_seed, length, exptime)) {
        assert_true(may_fail);
        return;
    }
    *entry = (entry_t){1, next_seed, length, exptime};
}

static void get_one(unsigned i, int may_be_evicted)
{
    entry_t *entry = &model[i];
    int found = shelf_get(&shelf, key_of(i), entry->seed, entry->length);

    if (is_there(entry) && !found) {
        assert_true(may_be_evicted);
        lost++;
    }
    else
        assert_int_equal(found, is_there(entry));
    entry->there = found;
}

static void delete_one(unsigned i, int may_be_evicted)
{
    get_one(i, may_be_evicted);
    assert_int_equal(shelf_delete(&shelf, key_of(i)), model[i].there);
    model[i].there = 0;
}

static void flush_all(void)
{
    unsigned i;

    store_space_flush(shelf.space, 0);
    for (i = 0; i < KEYS; i++)
        model[i].there = 0;
}

static void step(int small)
{
    unsigned i = any(KEYS), what = any(1000);

    if (what < 2)
        flush_all();
    else if (what < 8)
        shelf_recover(&shelf);
    else if (what < 30)
        shelf_later(&shelf, any(50));
    else if (what < 400)
        set_one(i, small);
    else if (what < 500)
        delete_one(i, small);
    else
        get_one(i, small);
}

static void walk(uint32_t pages, int evict)
{
    unsigned i;

    for (i = 0; i < KEYS; i++)
        model[i].there = 0;
    shelf_open(&shelf, pages, evict);
    for (i = 0; i < STEPS; i++) {
        step(evict);
        if (i % 100 == 0)
            shelf_check(&shelf);
    }
    for (i = 0; i < KEYS; i++)
        get_one(i, evict);
    shelf_check(&shelf);
    shelf_close(&shelf);
}

static unsigned number(const char *name, unsigned otherwise)
{
    const char *text = getenv(name);

    return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

static void with_room_for_all_nothing_is_lost(void **state)
{
    unsigned walks = number("WALKS", 2);

    (void)state;
    while (walks-- > 0)
        walk(2000, 0);
    assert_int_equal(lost, 0);
}

static void without_room_a_value_is_right_or_not_there(void **state)
{
    unsigned walks = number("WALKS", 4);

    (void)state;
    while (walks-- > 0)
        walk(16 + any(30), 1);
    assert_true(lost > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_room_for_all_nothing_is_lost),
        cmocka_unit_test(without_room_a_value_is_right_or_not_there),
    };

    srand(number("SEED", 1));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
