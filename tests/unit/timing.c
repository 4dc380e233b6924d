/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Classes of times: a percentile is wrong by 10 % at most. */

#include <stdlib.h>
#include <string.h>

#include "shm/format/timing.h"
#include "tests/unit/support/scene.h"

#define LEAST INT64_C(64)   /* us */
#define MOST  (LEAST << 26) /* us: 71 minutes */
#define MANY  2000

static void classes_follow_each_other(void **state)
{
    int64_t us;
    uint32_t class, before = 0;

    (void)state;
    assert_int_equal(apl_timing_class(INT64_MIN), 0);
    assert_int_equal(apl_timing_class(LEAST - 1), 0);
    assert_int_equal(apl_timing_class(LEAST), 1);
    for (us = LEAST; us < MOST; us += 1 + us / 100) {
        class = apl_timing_class(us);
        assert_true(class == before || class == before + 1);
        before = class;
    }
    assert_int_equal(apl_timing_class(MOST - 1), APL_TIMES - 2);
    assert_int_equal(apl_timing_class(MOST), APL_TIMES - 1);
    assert_int_equal(apl_timing_class(INT64_MAX), APL_TIMES - 1);
    for (class = 1; class < APL_TIMES - 1; class ++)
        assert_int_equal(apl_timing_class(apl_timing_value(class)), class);
    assert_int_equal(apl_timing_value(APL_TIMES),
                     apl_timing_value(APL_TIMES - 1));
    assert_int_equal(apl_timing_value(UINT32_MAX), MOST);
}

static int smaller(const void *a, const void *b)
{
    const int64_t *one = a, *other = b;

    return (*one > *other) - (*one < *other);
}

/* As many times in each octave. */
static int64_t random_time(unsigned *seed)
{
    int64_t us = LEAST << rand_r(seed) % 26;

    return us + (int64_t)((double)rand_r(seed) / RAND_MAX * (double)(us - 1));
}

static void a_percentile_is_nearly_exact(void **state)
{
    static const uint32_t parts[] = {1, 50, 95, 99};
    static int64_t times[MANY];
    unsigned seed = 1;
    int turn, n, i;

    (void)state;
    for (turn = 0; turn < 300; turn++) {
        uint32_t counts[APL_TIMES] = {0};

        n = 1 + rand_r(&seed) % MANY;
        for (i = 0; i < n; i++) {
            times[i] = random_time(&seed);
            counts[apl_timing_class(times[i])]++;
        }
        qsort(times, (size_t)n, sizeof *times, smaller);
        for (i = 0; i < 4; i++) {
            size_t rank = ((size_t)n * parts[i] + 99) / 100;
            double is = (double)apl_timing_value(
                apl_timing_percentile(counts, parts[i]));
            double exact = (double)times[rank - 1];

            assert_true(is / exact < 1.1 && exact / is < 1.1);
        }
    }
}

static void any_counts_have_a_percentile(void **state)
{
    uint32_t counts[APL_TIMES];

    (void)state;
    memset(counts, 0, sizeof counts);
    assert_int_equal(apl_timing_percentile(counts, 50), APL_TIME_NONE);
    counts[APL_TIMES - 1] = 1;
    assert_int_equal(apl_timing_percentile(counts, 1), APL_TIMES - 1);
    memset(counts, 0xff, sizeof counts);
    assert_int_equal(apl_timing_percentile(counts, 50), APL_TIMES / 2 - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_follow_each_other),
        cmocka_unit_test(a_percentile_is_nearly_exact),
        cmocka_unit_test(any_counts_have_a_percentile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
