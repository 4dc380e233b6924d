/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The order to fork a process, the hello of that process, and what the kernel
 * has to say of it. */

#include "spawner/process/fork_order.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/scene.h"

/* ---- the order ---- */

static void an_order_is_strings_between_nuls(void **state)
{
    static const char *const variables[] = {"A=1", "B=", "C=x y", NULL};
    char text[FORK_ORDER_MAX];

    (void)state;
    assert_int_equal(fork_order_write(variables, text), 12);
    assert_memory_equal(text, "A=1\0B=\0C=x y", 12);
}

static void an_order_fits_or_is_none(void **state)
{
    static const char *const none[] = {NULL};
    char one[FORK_ORDER_MAX + 1], text[FORK_ORDER_MAX];
    const char *variables[] = {one, NULL, NULL};

    (void)state;
    assert_int_equal(fork_order_write(none, text), 0);
    memset(one, 'x', sizeof one);
    one[FORK_ORDER_MAX - 1] = 0;
    assert_int_equal(fork_order_write(variables, text), FORK_ORDER_MAX - 1);
    one[FORK_ORDER_MAX - 1] = 'x';
    one[FORK_ORDER_MAX] = 0;
    assert_int_equal(fork_order_write(variables, text), 0);
    one[FORK_ORDER_MAX - 3] = 0;
    variables[1] = "A";
    assert_int_equal(fork_order_write(variables, text), FORK_ORDER_MAX - 1);
    variables[1] = "AB";
    assert_int_equal(fork_order_write(variables, text), 0);
}

/* ---- the hello ---- */

static void a_hello_is_a_pid(void **state)
{
    static const struct {
        const char *bytes;
        size_t n;
        pid_t pid;
    } all[] = {
        {"1\n", 2, 1},
        {"4711\n", 5, 4711},
        {"2147483647\n", 11, 2147483647},
        {"2147483648\n", 11, 0},
        {"9999999999\n", 11, 0},
        {"12345678901\n", 12, 0},
        {"", 0, 0},
        {"\n", 1, 0},
        {"7", 1, 0},
        {"71", 2, 0},
        {"0\n", 2, 0},
        {"07\n", 3, 0},
        {"-7\n", 3, 0},
        {"+7\n", 3, 0},
        {" 7\n", 3, 0},
        {"7 \n", 3, 0},
        {"7\n\n", 3, 0},
        {"7\n8\n", 4, 0},
        {"7\0\n", 3, 0},
        {"7x\n", 3, 0},
        {"0x7\n", 4, 0},
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof all / sizeof *all; i++)
        if (fork_order_hello(all[i].bytes, all[i].n) != all[i].pid)
            fail_msg("\"%s\" is %d", all[i].bytes,
                     (int)fork_order_hello(all[i].bytes, all[i].n));
}

/* ---- the facts ---- */

static const fork_expected_t expected = {
    .spawner = 10, .uid = 33, .ordered = 1000};
static const fork_facts_t good = {.pid = 99,
                                  .parent = 10,
                                  .session = 99,
                                  .start = 1000,
                                  .uids = {33, 33, 33, 33},
                                  .recorded = 0,
                                  .in_cgroup = 1};

static void what_is_true_is_taken(void **state)
{
    fork_facts_t is = good;

    (void)state;
    assert_null(fork_order_wrong(&is, &expected));
    is.start++;
    assert_null(fork_order_wrong(&is, &expected));
}

static void is_refused(const fork_facts_t *is, const char *why)
{
    const char *wrong = fork_order_wrong(is, &expected);

    if (!wrong || !strstr(wrong, why))
        fail_msg("%s: %s", why, wrong ? wrong : "it is taken");
}

static void each_wrong_fact_alone_is_refused(void **state)
{
    fork_facts_t is;
    int i;

    (void)state;
    is = good;
    is.parent = 11;
    is_refused(&is, "child of the spawner");
    is = good;
    is.session = 98;
    is_refused(&is, "session");
    for (i = 0; i < 4; i++) {
        is = good;
        is.uids[i] = 0;
        is_refused(&is, "user");
    }
    is = good;
    is.start = 999;
    is_refused(&is, "older");
    is = good;
    is.recorded = 1;
    is_refused(&is, "known");
    is = good;
    is.in_cgroup = 0;
    is_refused(&is, "cgroup");
}

static void the_kernel_names_four_users(void **state)
{
    uint32_t uids[4];

    (void)state;
    assert_int_equal(
        fork_order_uids("Name:\tx\nUid:\t1\t2\t3\t4\nGid:\t5\n", uids), 0);
    assert_int_equal(uids[0], 1);
    assert_int_equal(uids[3], 4);
    /* A process may choose its name, in which newlines are escaped. */
    assert_int_equal(
        fork_order_uids("Name:\tUid: 0 0 0 0\nUid:\t1\t2\t3\n", uids), -1);
    assert_int_equal(fork_order_uids("", uids), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_order_is_strings_between_nuls),
        cmocka_unit_test(an_order_fits_or_is_none),
        cmocka_unit_test(a_hello_is_a_pid),
        cmocka_unit_test(what_is_true_is_taken),
        cmocka_unit_test(each_wrong_fact_alone_is_refused),
        cmocka_unit_test(the_kernel_names_four_users),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
