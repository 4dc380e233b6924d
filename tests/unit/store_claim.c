/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Who may be the master while another host has other data. */

#include "store/cluster/store_claim.h"

#include <string.h>
#include <time.h>

#include "base/clock_ms.h"
#include "base/heartbeat.h"
#include "store/cluster/role.h"
#include "store/cluster/history.h"
#include "store/cluster/promotion.h"
#include "store/memory/region.h"
#include "tests/unit/support/notes.h"
#include "tests/unit/support/shelf.h"

static shelf_t shelf;
static store_history_t mine;
static int64_t now = 1000000; /* ms */

void heartbeat(void)
{
}

int __real_clock_gettime(clockid_t, struct timespec *);
int __wrap_clock_gettime(clockid_t, struct timespec *);
int __wrap_clock_gettime(clockid_t id, struct timespec *to)
{
    if (id != CLOCK_MONOTONIC)
        return __real_clock_gettime(id, to);
    to->tv_sec = (time_t)(now / 1000);
    to->tv_nsec = (long)(now % 1000 * 1000000);
    return 0;
}

static store_space_t *nth(unsigned n)
{
    return n == 0 ? shelf.space : NULL;
}

static const store_cluster_hooks_t hooks = {.nth = nth};

/* A master that began empty. */
static int setup(void **state)
{
    (void)state;
    shelf_open(&shelf, 16, 1);
    store_history_begin(&hooks);
    store_history_own(&mine);
    store_claim_clear();
    notes_clear();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    store_history_end();
    shelf_close(&shelf);
    return 0;
}

/* Other data, with so many changes. @return does it keep it? */
static int claim(uint64_t position, int is_trusted)
{
    const store_history_t claimed = {
        .n = 1, .epoch = {{.id = 77, .position = position}}};

    return store_claim_hear(&claimed, &mine, "10.0.0.2", is_trusted);
}

static void a_claim_is_kept_for_a_while(void **state)
{
    (void)state;
    assert_int_equal(mine.flags, STORE_HISTORY_EMPTY);
    assert_int_equal(claim(5, 1), 1);
    notes_expect("10.0.0.2 does not follow this master, because it has better "
                 "data, and this host began without an item: 5 changes");
    assert_true(store_region_directory()->history.flags &
                STORE_HISTORY_CONTESTED);
    now += 14999;
    assert_true(store_claim_is_there());
    now++;
    assert_false(store_claim_is_there());
}

static void it_is_logged_once_a_minute(void **state)
{
    int i;

    (void)state;
    for (i = 0; i < 60; i++, now += 1000)
        claim(5, 1);
    assert_int_equal(notes_count("10.0.0.2"), 1);
    claim(5, 1);
    assert_int_equal(notes_count("10.0.0.2"), 2);
}

/* Each user of the host could say so. */
static void who_knows_no_secret_claims_nothing(void **state)
{
    (void)state;
    assert_int_equal(claim(5, 0), 1);
    assert_false(store_claim_is_there());
    assert_int_equal(store_region_directory()->history.flags,
                     STORE_HISTORY_EMPTY);
    assert_int_equal(notes_count(""), 0);
}

/* Else the address would move to and fro. */
static void nobody_knows_which_stranger_is_better(void **state)
{
    (void)state;
    assert_int_equal(claim(0, 1), 1);
    assert_false(store_claim_is_there());
    notes_expect("nothing in common");
}

static void a_slave_that_joins_claims_nothing(void **state)
{
    (void)state;
    assert_int_equal(store_claim_hear(&mine, &mine, "10.0.0.2", 1), 0);
    assert_false(store_claim_is_there());
    assert_int_equal(notes_count(""), 0);
}

/* An administrator has decided: "apppoolctl store forget" there. */
static void who_joins_claims_nothing_any_more(void **state)
{
    (void)state;
    claim(5, 1);
    assert_int_equal(store_claim_hear(&mine, &mine, "10.0.0.3", 1), 0);
    assert_true(store_claim_is_there());
    assert_int_equal(store_claim_hear(&mine, &mine, "10.0.0.2", 0), 0);
    assert_true(store_claim_is_there());
    assert_int_equal(store_claim_hear(&mine, &mine, "10.0.0.2", 1), 0);
    assert_false(store_claim_is_there());
}

/* ---- a slave ---- */

/* A host that answers has better data, so that one is to be the first master. */
static void one_that_has_less_than_a_peer_is_not_ready(void **state)
{
    store_follower_state_t s = {.has_tried = 1};

    (void)state;
    assert_int_equal(store_role_may_lead(&s, now - 5000), STORE_READY_NOT);
    s.has_asked = 1;
    assert_int_equal(store_role_may_lead(&s, now - 5000), STORE_READY_YES);
    s.better = 1;
    assert_int_equal(store_role_may_lead(&s, now - 5000), STORE_READY_BETTER);
}

/* Its master began empty. So it does not matter how long ago the last mark
 * came. */
static void one_that_keeps_its_data_is_ready(void **state)
{
    store_follower_state_t s = {.has_tried = 1, .was_answered = 1, .keeps = 1};

    (void)state;
    assert_int_equal(store_role_may_lead(&s, now), STORE_READY_NOT);
    s.has_asked = 1;
    s.complete = s.has_begun = 1;
    assert_int_equal(store_role_may_lead(&s, now), STORE_READY_YES);
    s.better = 1;
    assert_int_equal(store_role_may_lead(&s, now), STORE_READY_BETTER);
    s.keeps = 0; /* then its copy is old */
    assert_int_equal(store_role_may_lead(&s, now), STORE_READY_BETTER);
    s.better = 0;
    assert_int_equal(store_role_may_lead(&s, now), STORE_READY_OLD);
    s.complete = 0;
    assert_int_equal(store_role_may_lead(&s, now), STORE_READY_PART);
}

/* It has its old copy then, and a part of the next one. */
static void one_that_lost_its_master_in_a_copy_has_an_old_one(void **state)
{
    uint32_t *lacks = &store_region_directory()->lacks;
    store_follower_state_t s = {.has_tried = 1, .has_begun = 1};
    int64_t began = now - 5000;

    (void)state;
    *lacks = STORE_LACKS_NEWER;
    assert_int_equal(store_role_may_lead(&s, began), STORE_READY_NOT);
    s.has_asked = 1;
    assert_int_equal(store_role_may_lead(&s, began), STORE_READY_OLD);
    /* Another host may start, too, and have newer data. */
    assert_int_equal(store_role_may_lead(&s, began + 1), STORE_READY_NOT);
    s.better = 1;
    assert_int_equal(store_role_may_lead(&s, began), STORE_READY_BETTER);
    s.better = 0;
    s.has_begun = 0; /* this store was killed then */
    assert_int_equal(store_role_may_lead(&s, began), STORE_READY_OLD);
    s.connected = s.has_begun = 1; /* the copy goes on */
    assert_int_equal(store_role_may_lead(&s, began), STORE_READY_PART);
    *lacks = STORE_LACKS_ITEMS;
    s.connected = 0;
    assert_int_equal(store_role_may_lead(&s, began), STORE_READY_PART);
    *lacks = STORE_LACKS_NOTHING;
}

/* The answer that it got before its last master is no answer. */
static void who_met_a_master_asks_again(void **state)
{
    store_follower_state_t s;

    (void)state;
    store_follower_state_clear();
    store_follower_state_better(1);
    store_follower_state(&s);
    assert_true(s.has_asked && s.better);
    store_follower_state_connected();
    store_follower_state_lost();
    store_follower_state(&s);
    assert_false(s.has_asked || s.better);
}

static void a_promotion_says_what_it_has(void **state)
{
    const store_follower_state_t s = {.keeps = 1, .has_begun = 1};

    (void)state;
    store_promotion_log("10.0.0.9", &s, STORE_LACKS_NOTHING);
    notes_expect("with its own items, because the last master had no better");
}

static void only_a_slave_forgets_by_hand(void **state)
{
    (void)state;
    assert_string_equal(store_role_forget(), "this store is no slave");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_claim_is_kept_for_a_while),
        TEST(it_is_logged_once_a_minute),
        TEST(who_knows_no_secret_claims_nothing),
        TEST(nobody_knows_which_stranger_is_better),
        TEST(a_slave_that_joins_claims_nothing),
        TEST(who_joins_claims_nothing_any_more),
        TEST(one_that_has_less_than_a_peer_is_not_ready),
        TEST(one_that_keeps_its_data_is_ready),
        TEST(one_that_lost_its_master_in_a_copy_has_an_old_one),
        TEST(who_met_a_master_asks_again),
        TEST(a_promotion_says_what_it_has),
        TEST(only_a_slave_forgets_by_hand),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
