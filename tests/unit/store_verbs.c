/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Verbs of several threads at once: no change of a value is lost, and each cas
 * is given once. */

#include "tests/unit/support/wire.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "store/protocol/delta.h"
#include "store/protocol/verbs.h"

#define THREADS 4
#define ROUNDS  3000

typedef struct {
    store_caller_t caller;
    store_counters_t counters;
    unsigned number;
    unsigned done;
} worker_t;

static void run(shelf_t *shelf, void *(*main_of)(void *), worker_t *workers)
{
    pthread_t threads[THREADS];

    memset(workers, 0, THREADS * sizeof *workers);
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i].caller =
            (store_caller_t){shelf->space, &workers[i].counters, NULL, NULL};
        workers[i].number = i;
        assert_int_equal(
            pthread_create(&threads[i], NULL, main_of, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static store_result_t update(worker_t *w, const char *key, const char *value,
                             uint32_t length, const store_update_t *how)
{
    uint64_t cas;
    store_result_t rv;
    store_item_t *item = store_item_make(w->caller.space, key,
                                         (uint8_t)strlen(key), 0, 0, length);

    if (item == NULL)
        return STORE_NO_MEMORY;
    store_item_write(w->caller.space, item, 0, value, length);
    rv = store_update(&w->caller, item, how, &cas);
    store_item_release(w->caller.space, item);
    return rv;
}

static void *add_numbers(void *ctx)
{
    worker_t *w = ctx;

    for (unsigned i = 0; i < ROUNDS; i++) {
        store_delta_t d = {.delta = 3, .vivify = 1, .initial = 3};
        store_result_t rv = store_delta_apply(&w->caller, "n", 1, &d);

        w->done += rv == STORE_DONE || rv == STORE_CREATED;
    }
    return NULL;
}

static void no_increment_is_lost(void **state)
{
    worker_t workers[THREADS];
    shelf_t shelf;
    store_item_t *item;
    char text[32] = "", want[32];

    (void)state;
    shelf_open(&shelf, 16, 1);
    run(&shelf, add_numbers, workers);
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(workers[i].done, ROUNDS);
    item = shelf_take(&shelf, "n");
    assert_non_null(item);
    store_item_read(shelf.space, item, 0, text, item->length);
    snprintf(want, sizeof want, "%u", 3 * THREADS * ROUNDS);
    assert_string_equal(text, want);
    store_item_release(shelf.space, item);
    assert_int_equal(shelf_check(&shelf), 1);
    shelf_close(&shelf);
}

static void *append_bytes(void *ctx)
{
    const store_update_t first = {.mode = STORE_MODE_ADD};
    worker_t *w = ctx;
    char value = (char)('a' + w->number);

    update(w, "a", "", 0, &first);
    for (unsigned i = 0; i < ROUNDS; i++) {
        store_update_t how = {.mode = i % 2 ? STORE_MODE_APPEND
                                            : STORE_MODE_PREPEND};

        w->done += update(w, "a", &value, 1, &how) == STORE_DONE;
    }
    return NULL;
}

static void no_appended_byte_is_lost(void **state)
{
    static char text[THREADS * ROUNDS];
    unsigned seen[THREADS] = {0};
    worker_t workers[THREADS];
    shelf_t shelf;
    store_item_t *item;

    (void)state;
    shelf_open(&shelf, 64, 1);
    run(&shelf, append_bytes, workers);
    item = shelf_take(&shelf, "a");
    assert_non_null(item);
    assert_int_equal(item->length, THREADS * ROUNDS);
    store_item_read(shelf.space, item, 0, text, item->length);
    for (size_t i = 0; i < sizeof text; i++)
        seen[text[i] - 'a']++;
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(workers[i].done, ROUNDS);
        assert_int_equal(seen[i], ROUNDS);
    }
    store_item_release(shelf.space, item);
    assert_int_equal(shelf_check(&shelf), 1);
    shelf_close(&shelf);
}

/* Read, and set with the cas that was read. */
static void *compare_and_set(void *ctx)
{
    worker_t *w = ctx;

    for (unsigned i = 0; i < ROUNDS; i++) {
        store_fetch_t fetch = {.touch = 0};
        store_item_t *item = store_verbs_fetch(&w->caller, "c", 1, &fetch);
        store_update_t how = {.mode = STORE_MODE_CAS};
        uint32_t value = 0;

        if (item == NULL)
            continue;
        how.cas = item->cas;
        store_item_read(w->caller.space, item, 0, &value, sizeof value);
        value++;
        store_item_release(w->caller.space, item);
        w->done +=
            update(w, "c", (char *)&value, sizeof value, &how) == STORE_DONE;
    }
    return NULL;
}

static void each_cas_succeeds_once(void **state)
{
    const store_update_t set = {.mode = STORE_MODE_SET};
    worker_t workers[THREADS] = {0};
    uint32_t value = 0, done = 0;
    shelf_t shelf;
    store_item_t *item;

    (void)state;
    shelf_open(&shelf, 16, 1);
    workers[0].caller =
        (store_caller_t){shelf.space, &workers[0].counters, NULL, NULL};
    update(&workers[0], "c", (char *)&value, sizeof value, &set);
    run(&shelf, compare_and_set, workers);
    item = shelf_take(&shelf, "c");
    store_item_read(shelf.space, item, 0, &value, sizeof value);
    for (unsigned i = 0; i < THREADS; i++) {
        done += workers[i].done;
        assert_int_equal(workers[i].counters.n[STORE_CAS_HITS] +
                             workers[i].counters.n[STORE_CAS_BADVAL],
                         ROUNDS);
    }
    assert_true(done > 0);
    assert_int_equal(value, done);
    store_item_release(shelf.space, item);
    shelf_close(&shelf);
}

/* All threads try to renew the stale item. */
static void *try_to_win(void *ctx)
{
    worker_t *w = ctx;

    for (unsigned i = 0; i < ROUNDS; i++) {
        char key[16];
        store_fetch_t fetch = {.vivify = 1, .win_stale = 1};
        store_item_t *item;

        snprintf(key, sizeof key, "%u", i);
        item = store_verbs_fetch(&w->caller, key, (uint8_t)strlen(key), &fetch);
        w->done += fetch.won ? 1 : 0;
        if (item)
            store_item_release(w->caller.space, item);
    }
    return NULL;
}

static void one_client_wins_each_item(void **state)
{
    worker_t workers[THREADS];
    unsigned won = 0;
    shelf_t shelf;

    (void)state;
    shelf_open(&shelf, 64, 1);
    run(&shelf, try_to_win, workers);
    for (unsigned i = 0; i < THREADS; i++)
        won += workers[i].done;
    assert_int_equal(won, ROUNDS);
    assert_int_equal(shelf_check(&shelf), ROUNDS);
    shelf_close(&shelf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_increment_is_lost),
        cmocka_unit_test(no_appended_byte_is_lost),
        cmocka_unit_test(each_cas_succeeds_once),
        cmocka_unit_test(one_client_wins_each_item),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
