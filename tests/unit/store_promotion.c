/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What the log says of a slave that becomes the master. */

#include "store/cluster/promotion.h"

#include <string.h>

#include "base/clock_ms.h"
#include "tests/unit/support/fake_master.h"
#include "tests/unit/support/notes.h"
#include "tests/unit/support/test_clock.h"

static void expect(const store_follower_state_t *s, uint32_t lacks,
                   const char *words)
{
    notes_clear();
    store_promotion_log("10.0.0.9", s, lacks);
    notes_expect(words);
}

/* keepalived needs some seconds. */
static void a_copy_that_is_whole(void **state)
{
    store_follower_state_t s = {.has_begun = 1, .complete = 1};

    (void)state;
    s.marked_at = clock_ms() - 2150;
    s.lag = 20;
    expect(&s, STORE_LACKS_NOTHING, "with the complete copy, 2.2 s old");
    expect(&s, STORE_LACKS_ITEMS,
           "but its copy is not complete: items are missing");
}

static void a_copy_that_is_old(void **state)
{
    store_follower_state_t s = {.has_begun = 1, .complete = 1};

    (void)state;
    s.marked_at = clock_ms() - 50000;
    expect(&s, STORE_LACKS_NOTHING,
           "but its copy is 50 s old, because it had lost its master");
    s.refused_at = clock_ms();
    expect(&s, STORE_LACKS_NOTHING,
           "but its copy is 50 s old, because the last master refused it");
    s.refused_at = 0;
    s.marked_at = clock_ms();
    s.lag = 16000;
    expect(&s, STORE_LACKS_NOTHING,
           "but its copy is 16 s old, because it did not keep up");
}

/* The old copy is kept meanwhile. */
static void a_copy_that_had_begun(void **state)
{
    store_follower_state_t s = {.has_begun = 1};

    (void)state;
    s.marked_at = clock_ms() - 7000;
    expect(&s, STORE_LACKS_NEWER,
           "it has its old copy, 7 s old, and what has come of the new one");
    s.marked_at = 0; /* it was killed then */
    expect(&s, STORE_LACKS_NEWER,
           "it has its old copy, of unknown age, and what has come of the");
}

/* It sends no marks. */
static void the_copy_of_a_yrmcds(void **state)
{
    store_follower_state_t s = {.has_begun = 1, .complete = 1, .is_yrmcds = 1};

    (void)state;
    s.since = clock_ms() - 20180;
    expect(&s, STORE_LACKS_NOTHING, "with the complete copy, 20.2 s old");
}

static void items_of_its_own(void **state)
{
    store_follower_state_t s = {.has_tried = 1};

    (void)state;
    expect(&s, STORE_LACKS_NOTHING,
           "with its own items, because it met no master");
    s.refused_at = clock_ms();
    expect(
        &s, STORE_LACKS_NOTHING,
        "with its own items: the last master refused it, so they may be old");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_that_is_whole),
        cmocka_unit_test(a_copy_that_is_old),
        cmocka_unit_test(a_copy_that_had_begun),
        cmocka_unit_test(the_copy_of_a_yrmcds),
        cmocka_unit_test(items_of_its_own),
    };

    test_clock_slow(1000);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
