/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A periodic save on a slave, which may take another copy at any moment. */

#include "store/server/saver.h"

#include <unistd.h>

#include "store/cluster/follower_state.h"
#include "store/server/snapshot.h"
#include "tests/unit/support/keeper.h"
#include "tests/unit/support/notes.h"

static int comes; /* a copy begins and is complete in the next slice; atomic */
static int is_kept;

int __real_store_snapshot_fill(store_save_t *, store_space_t *, uint32_t *);
int __wrap_store_snapshot_fill(store_save_t *, store_space_t *, uint32_t *);
int __wrap_store_snapshot_fill(store_save_t *s, store_space_t *space,
                               uint32_t *cursor)
{
    if (__atomic_exchange_n(&comes, 0, __ATOMIC_ACQ_REL)) {
        store_follower_state_begins(is_kept);
        store_follower_state_complete(1);
    }
    return __real_store_snapshot_fill(s, space, cursor);
}

/* @return the number of the first file that is whole */
static uint32_t save_while_a_copy_comes(int kept)
{
    store_snapshot_head_t head;

    is_kept = kept;
    __atomic_store_n(&comes, 1, __ATOMIC_RELEASE);
    store_saver_configure(1);
    assert_int_equal(store_saver_start(&files), 0);
    notes_wait("saved 60 items");
    store_saver_stop();
    assert_false(comes);
    assert_true(store_save_files_newest(&files, &head) >= 0);
    assert_true(head.whole);
    return head.number;
}

/* Some of its items were perhaps forgotten, and had not come again. */
static void a_save_in_which_items_were_forgotten_has_no_end(void **state)
{
    (void)state;
    assert_int_equal(save_while_a_copy_comes(0), 2);
}

static void a_copy_that_forgets_nothing_stops_no_save(void **state)
{
    (void)state;
    assert_int_equal(save_while_a_copy_comes(1), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_save_in_which_items_were_forgotten_has_no_end, keeper_setup,
            keeper_teardown),
        cmocka_unit_test_setup_teardown(
            a_copy_that_forgets_nothing_stops_no_save, keeper_setup,
            keeper_teardown),
    };

    alarm(300);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
