/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Which copy is the newer one, and which one gives way. */

#include "store/cluster/epoch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define INCOMPLETE STORE_HISTORY_INCOMPLETE
#define CONTESTED  STORE_HISTORY_CONTESTED
#define EMPTY      STORE_HISTORY_EMPTY

/* The epochs are a, b ...; the last one of the text is the present one:
 * "a9 b3". */
static store_history_t history(const char *text, uint32_t flags)
{
    store_history_t h = {.flags = flags};
    const char *at;

    for (at = text; *at; at++) {
        if (*at < 'a')
            continue;
        memmove(h.epoch + 1, h.epoch, sizeof h.epoch - sizeof *h.epoch);
        h.epoch[0].id = (uint64_t)*at;
        h.epoch[0].position = (uint64_t)strtoull(at + 1, NULL, 10);
        h.n++;
    }
    h.number = h.n;
    return h;
}

typedef struct {
    const char *mine;
    uint32_t mine_flags;
    const char *theirs;
    uint32_t theirs_flags;
    store_join_t join;
    store_claim_t claim; /* of mine, while theirs is the master's */
    int is_better;       /* theirs */
    int is_related;
    uint64_t only_mine, only_theirs;
} row_t;

static const row_t rows[] = {
    /* a new host */
    {"", 0, "a5", 0, STORE_JOIN_NOTHING, 0, 1, 0, 0, 5},
    {"", 0, "a5", INCOMPLETE, STORE_JOIN_NOTHING, 0, 1, 0, 0, 5},
    {"", 0, "", 0, STORE_JOIN_NOTHING, 0, 0, 0, 0, 0},
    {"a5", 0, "", 0, STORE_KEEP_OTHER, 0, 0, 0, 5, 0},
    /* its master, before and after the next promotion */
    {"a5", 0, "a5", 0, STORE_JOIN_NEWER, 0, 0, 1, 0, 0},
    {"a5", 0, "a9", 0, STORE_JOIN_NEWER, 0, 1, 1, 0, 4},
    {"a5", 0, "a5 b0", 0, STORE_JOIN_NEWER, 0, 0, 1, 0, 0},
    {"a5", 0, "a7 b3 c1", 0, STORE_JOIN_NEWER, 0, 1, 1, 0, 6},
    {"a5 b0", 0, "a5 c1", 0, STORE_JOIN_NEWER, 0, 1, 1, 0, 1},
    {"a5 b3", 0, "b4", 0, STORE_JOIN_NEWER, 0, 1, 1, 0, 1},
    {"b3", 0, "a5 b3 c0", 0, STORE_JOIN_NEWER, 0, 0, 1, 0, 0},
    /* a master with an older copy */
    {"a9", 0, "a5", 0, STORE_KEEP_MORE, STORE_CLAIM_BETTER, 0, 1, 4, 0},
    {"a9", 0, "a5 b0", 0, STORE_KEEP_MORE, STORE_CLAIM_BETTER, 0, 1, 4, 0},
    {"a9 b2", 0, "a5", 0, STORE_KEEP_MORE, STORE_CLAIM_BETTER, 0, 1, 6, 0},
    /* both went on */
    {"a9", 0, "a5 b3", 0, STORE_KEEP_MORE, STORE_CLAIM_BETTER, 0, 1, 4, 3},
    {"a9", 0, "a5 b4", 0, STORE_JOIN_GIVES, 0, 0, 1, 4, 4},
    {"a9", 0, "a5 b5", 0, STORE_JOIN_GIVES, 0, 1, 1, 4, 5},
    {"a5 b2 c1", 0, "a5 d4", 0, STORE_JOIN_GIVES, 0, 1, 1, 3, 4},
    {"a5 b2 c1", 0, "a5 b1 d1", 0, STORE_KEEP_MORE, STORE_CLAIM_BETTER, 0, 1, 2,
     1},
    /* one of them is not complete */
    {"a5", 0, "a9", INCOMPLETE, STORE_KEEP_WHOLE, STORE_CLAIM_BETTER, 0, 1, 0,
     4},
    {"a5", 0, "b9", INCOMPLETE, STORE_KEEP_WHOLE, STORE_CLAIM_BETTER, 0, 0, 5,
     9},
    {"a9", INCOMPLETE, "a5 b1", 0, STORE_JOIN_GIVES, 0, 1, 1, 4, 1},
    {"a5", INCOMPLETE, "a9", 0, STORE_JOIN_NEWER, 0, 1, 1, 0, 4},
    {"a9", INCOMPLETE, "b5", 0, STORE_JOIN_GIVES, 0, 1, 0, 9, 5},
    {"a9", INCOMPLETE, "a5 b1", INCOMPLETE, STORE_KEEP_MORE, STORE_CLAIM_BETTER,
     0, 1, 4, 1},
    /* nothing in common */
    {"a9", 0, "b5", 0, STORE_KEEP_OTHER, 0, 0, 0, 9, 5},
    {"a5", 0, "b9", 0, STORE_KEEP_OTHER, 0, 0, 0, 5, 9},
    {"a0", 0, "b5", 0, STORE_KEEP_OTHER, 0, 0, 0, 0, 5},
    {"a0", EMPTY, "b5", 0, STORE_JOIN_NEWER, 0, 1, 0, 0, 5},
    {"a0", EMPTY, "b0", EMPTY, STORE_JOIN_NEWER, 0, 0, 0, 0, 0},
    {"a9", 0, "b5", EMPTY, STORE_KEEP_OTHER, STORE_CLAIM_OLDER, 0, 0, 9, 5},
    {"a5", 0, "b5", EMPTY, STORE_KEEP_OTHER, 0, 0, 0, 5, 5},
    {"a5", 0, "b9", EMPTY | CONTESTED, STORE_KEEP_OTHER, STORE_CLAIM_OLDER, 0,
     0, 5, 9},
    {"b9", EMPTY | CONTESTED, "a5", 0, STORE_JOIN_GIVES, 0, 1, 0, 9, 5},
    {"b9", CONTESTED, "c5", CONTESTED, STORE_KEEP_OTHER, 0, 0, 0, 9, 5},
};

static void who_gives_way(void **state)
{
    const row_t *r;

    (void)state;
    for (r = rows; r < rows + sizeof rows / sizeof *rows; r++) {
        store_history_t mine = history(r->mine, r->mine_flags),
                        theirs = history(r->theirs, r->theirs_flags);
        store_relation_t is;
        store_join_t join = store_epoch_join(&mine, &theirs, &is);

        print_message("%s(%u) %s(%u)\n", r->mine, r->mine_flags, r->theirs,
                      r->theirs_flags);
        assert_int_equal(join, r->join);
        assert_int_equal(is.is_related, r->is_related);
        assert_int_equal(is.mine, r->only_mine);
        assert_int_equal(is.theirs, r->only_theirs);
        assert_int_equal(store_epoch_claim(&mine, &theirs), r->claim);
        assert_int_equal(store_epoch_is_better(&theirs, &mine), r->is_better);
        assert_false(store_epoch_is_better(&mine, &theirs) && r->is_better);
    }
}

/* Whoever got the address because his copy is better takes the other one: the
 * address does not go back. */
static void the_one_that_gave_the_address_joins(void **state)
{
    const row_t *r;

    (void)state;
    for (r = rows; r < rows + sizeof rows / sizeof *rows; r++) {
        store_history_t next = history(r->mine, r->mine_flags),
                        last = history(r->theirs, r->theirs_flags);
        store_relation_t is;

        if (r->claim == STORE_CLAIM_NONE)
            continue;
        if (r->claim == STORE_CLAIM_OLDER)
            last.flags |= CONTESTED;
        store_epoch_begin(&next, 'z', 0);
        assert_false(store_epoch_keeps(store_epoch_join(&last, &next, &is)));
        assert_int_equal(store_epoch_claim(&last, &next), STORE_CLAIM_NONE);
    }
}

static void positions_are_contained(void **state)
{
    store_history_t h = history("a5 b3", 0);

    (void)state;
    assert_true(store_epoch_contains(&h, 'b', 3));
    assert_false(store_epoch_contains(&h, 'b', 4));
    assert_true(store_epoch_contains(&h, 'a', 5));
    assert_false(store_epoch_contains(&h, 'a', 6));
    assert_false(store_epoch_contains(&h, 'c', 0));
    assert_int_equal(store_epoch_changes(&h), 8);
}

/* Another host may send any number. */
static void a_sum_does_not_begin_again(void **state)
{
    store_history_t mine = history("a5 b18446744073709551615 c7", 0),
                    theirs = history("a5 d9", 0);
    store_relation_t is;

    (void)state;
    assert_int_equal(store_epoch_join(&mine, &theirs, &is), STORE_KEEP_MORE);
    assert_true(is.mine == UINT64_MAX);
}

static void the_oldest_epoch_is_forgotten(void **state)
{
    store_history_t h;
    uint64_t id;

    (void)state;
    memset(&h, 0, sizeof h);
    for (id = 1; id <= STORE_EPOCHS + 3; id++) {
        store_epoch_begin(&h, id, id == 2 ? INCOMPLETE : 0);
        assert_int_equal(h.n, id < STORE_EPOCHS ? id : STORE_EPOCHS);
        assert_int_equal(h.epoch[0].id, id);
        assert_int_equal(h.epoch[0].position, 0);
        h.epoch[0].position = 10 * id;
    }
    assert_int_equal(h.number, STORE_EPOCHS + 3);
    assert_int_equal(h.flags, INCOMPLETE);
    for (id = 4; id <= STORE_EPOCHS + 3; id++) {
        assert_true(store_epoch_contains(&h, id, 10 * id));
        assert_false(store_epoch_contains(&h, id, 10 * id + 1));
    }
    assert_false(store_epoch_contains(&h, 3, 0));
}

/* An address that moves to and fro makes nobody forget where its data comes
 * from. */
static void an_epoch_without_a_change_is_replaced(void **state)
{
    store_history_t h = history("a5", 0), first = history("a0", 0);
    uint64_t id;

    (void)state;
    store_epoch_begin(&first, 'b', 0);
    assert_true(store_epoch_contains(&first, 'a', 0));
    for (id = 1000; id < 1100; id++)
        store_epoch_begin(&h, id, 0);
    assert_int_equal(h.n, 2);
    assert_int_equal(h.epoch[0].id, 1099);
    assert_true(store_epoch_contains(&h, 'a', 5));
    assert_int_equal(h.number, 101);
}

static void another_history_is_taken_over(void **state)
{
    store_history_t h = history("a5 b3 c4", EMPTY), from = history("d1 e2", 0);

    (void)state;
    store_epoch_adopt(&h, &from);
    assert_int_equal(h.n, 2);
    assert_int_equal(h.number, 2);
    assert_int_equal(h.flags, 0);
    assert_memory_equal(h.epoch, from.epoch, 2 * sizeof *h.epoch);
    store_epoch_clear(&h);
    assert_int_equal(h.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_gives_way),
        cmocka_unit_test(the_one_that_gave_the_address_joins),
        cmocka_unit_test(positions_are_contained),
        cmocka_unit_test(a_sum_does_not_begin_again),
        cmocka_unit_test(the_oldest_epoch_is_forgotten),
        cmocka_unit_test(an_epoch_without_a_change_is_replaced),
        cmocka_unit_test(another_history_is_taken_over),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
