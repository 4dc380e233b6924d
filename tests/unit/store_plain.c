/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A slave whose master has not proven that it knows the secret: it may be
 * anybody, and has the open space only. */

#include "store/cluster/apply.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "store/cluster/follower.h"
#include "tests/unit/support/fake_master.h"

static store_apply_t *apply_begin(void)
{
    store_apply_t *a = store_apply_make(&fake_hooks, 1, 0, NULL, NULL);

    assert_non_null(a);
    return a;
}

static ssize_t feed(store_apply_t *a)
{
    return store_apply_input(a, fake_wire.bytes, fake_wire.n);
}

static void without_a_secret_a_plain_master_has_the_open_space(void **state)
{
    store_apply_t *a = apply_begin();

    (void)state;
    shelf_set(&fake_shelf, "own", 8, 8, 0);
    fake_put_copy();
    assert_true(feed(a) >= 0);
    fake_expect_copy();
    assert_true(store_apply_result(a)->is_complete);
    store_apply_free(a);
}

/* Nothing of "shop" has changed, which is not the open space. */
static void expect_untouched(void)
{
    store_apply_t *a = apply_begin();
    uint64_t cas = fake_shelf.space->entry->cas;

    assert_true(feed(a) >= 0);
    assert_true(store_apply_result(a)->has_begun);
    assert_true(shelf_get(&fake_shelf, "own", 8, 8));
    assert_null(shelf_take(&fake_shelf, "a"));
    assert_true(fake_shelf.space->entry->cas == cas);
    assert_int_equal(fake_shelf.space->entry->flush_at, 0);
    store_apply_free(a);
}

static void a_plain_master_reaches_no_other_space(void **state)
{
    static const char *const open[] = {"blog", "", "sho", "shop2"};
    unsigned i;

    (void)state;
    shelf_set(&fake_shelf, "own", 8, 8, 0);
    for (i = 0; i < sizeof open / sizeof *open; i++) {
        snprintf(fake_config.open_space, STORE_NAME, "%s", open[i]);
        fake_put_begin();
        fake_put_flush("shop", FAKE_HOUR);
        fake_put_set("a", 1, 10, 0, 20);
        fake_put_touch("own", 1);
        fake_put_delete("own");
        fake_put_other(STORE_WIRE_FLUSHED, 5000);
        expect_untouched();
        fake_wire.n = 0; /* as a yrmcds */
        fake_put_set("a", 1, 10, 0, 0);
        fake_put_delete("own");
        expect_untouched();
    }
}

/* One of ours has the secret, too, so it would speak TLS. */
static void with_a_secret_a_plain_master_is_a_yrmcds(void **state)
{
    store_apply_t *a;

    (void)state;
    fake_config.n_secret = STORE_SECRET_MIN;
    fake_put_begin();
    a = apply_begin();
    assert_int_equal(feed(a), -1);
    assert_string_equal(store_apply_result(a)->error,
                        "it is no yrmcds, and it speaks without AppStoreKey");
    store_apply_free(a);
    fake_wire.n = 0;
    memcpy(fake_config.open_space, "blog", 5);
    shelf_set(&fake_shelf, "own", 8, 8, 0);
    fake_put_set("a", 1, 10, 0, 0);
    expect_untouched();
}

static int call(int listener)
{
    assert_int_equal(store_follower_begin(&fake_hooks), 0);
    fake_await(listener);
    return accept(listener, NULL, NULL);
}

/* @return bytes of the list of spaces in the hello of the slave */
static uint32_t names_told(int listener)
{
    char hello[STORE_WIRE_SMALL_MAX + STORE_WIRE_HELLO_MAX];
    int fd = call(listener);
    store_packet_t p = {0};
    const char *key;

    fake_await(fd);
    assert_true(recv(fd, hello, sizeof hello, 0) > 0);
    assert_true(store_wire_head(hello, sizeof hello, &p, &key) > 0);
    store_follower_end(0);
    close(fd);
    return p.value;
}

/* Anybody may be there. */
static void without_a_secret_no_other_space_is_named(void **state)
{
    int listener = fake_listen();

    (void)state;
    assert_int_equal(names_told(listener), sizeof "shop 4194304\n" - 1);
    fake_config.open_space[0] = '\0';
    assert_int_equal(names_told(listener), 0);
    close(listener);
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, fake_setup, fake_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(without_a_secret_a_plain_master_has_the_open_space),
        TEST(a_plain_master_reaches_no_other_space),
        TEST(with_a_secret_a_plain_master_is_a_yrmcds),
        TEST(without_a_secret_no_other_space_is_named),
    };

    alarm(300);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
