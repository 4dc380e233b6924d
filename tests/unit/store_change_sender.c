/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What a slave is sent for a change: after each batch it has, for each change
 * that was read, that state of the key or a newer one. */

#include "store/cluster/sender.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "store/cluster/wire.h"
#include "tests/unit/support/shelf.h"

static shelf_t shelf;
static store_change_sender_t present;
static store_sender_t sender;

static int setup(void **state)
{
    (void)state;
    shelf_open(&shelf, 64, 1);
    memset(&present, 0, sizeof present);
    memset(&sender, 0, sizeof sender);
    sender.ours = 1;
    present.has[shelf.space->slot] = 1;
    assert_int_equal(store_slave_link_open(&sender.out, NULL, 10), 0);
    assert_int_equal(store_changes_open(1 << 20), 0);
    store_changes_end(&present.cursor);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    store_slave_link_close(&sender.out);
    store_changes_close();
    shelf_close(&shelf);
    return 0;
}

/* What one batch has sent of "k". */
typedef struct {
    unsigned sets, deletes, touches, flushes;
    store_packet_t last; /* set */
} sent_t;

static void count(sent_t *s, const store_packet_t *p, const char *key)
{
    s->flushes += p->opcode == STORE_WIRE_FLUSHED;
    if (p->klen != 1 || *key != 'k')
        return;
    s->deletes += p->opcode == STORE_WIRE_DELETE;
    s->touches += p->opcode == STORE_WIRE_TOUCH;
    if (p->opcode == STORE_WIRE_SET) {
        s->sets++;
        s->last = *p;
    }
}

static sent_t run_batch(void)
{
    sent_t s = {0};
    store_packet_t p;
    const char *key;
    size_t at;

    assert_true(store_change_sender_run(&present, &sender) >= 0);
    for (at = 0; at < sender.out.n;) {
        int head =
            store_wire_head(sender.out.bytes + at, sender.out.n - at, &p, &key);

        assert_true(head > 0);
        count(&s, &p, key);
        at += (size_t)head + p.value;
    }
    sender.out.n = 0;
    return s;
}

/* Where the sender remembers what it has sent of a key. The hash has a random
 * key. */
static uint64_t place_of(const char *key)
{
    store_bucket_t bucket;
    uint64_t hash;

    store_index_lock(&bucket, shelf.space, key, (uint8_t)strlen(key));
    hash = bucket.hash;
    store_index_unlock(&bucket);
    return (hash ^ shelf.space->slot) % STORE_CHANGE_SENDER_SENT;
}

/* Changes of other keys, as many as a batch has room for. One with the place of
 * "k" would make the sender forget what it has sent of "k". */
static void fill_batch(unsigned but)
{
    uint64_t place = place_of("k");
    unsigned i, n;
    char key[16];

    for (i = 0, n = but; n < STORE_CHANGE_SENDER_BATCH; i++) {
        snprintf(key, sizeof key, "other%u", i);
        if (place_of(key) == place)
            continue;
        assert_true(shelf_set(&shelf, key, i, 10, 0) > 0);
        n++;
    }
}

/* Otherwise a mark behind the first batch would be about a state that the slave
 * has not. */
static void a_newer_state_is_sent_for_an_older_change(void **state)
{
    sent_t sent;

    (void)state;
    shelf_set(&shelf, "k", 1, 10, 0);
    fill_batch(1);
    shelf_set(&shelf, "k", 2, 20, 0);
    sent = run_batch();
    assert_int_equal(sent.sets, 1);
    assert_int_equal(sent.last.value, 20);
    assert_true(present.cursor.position < store_changes_position());
    /* And not again for its own change. */
    sent = run_batch();
    assert_int_equal(sent.sets, 0);
    assert_true(present.cursor.position == store_changes_position());
}

static void a_key_that_changes_often_is_sent_once(void **state)
{
    sent_t sent;
    uint32_t i;

    (void)state;
    for (i = 1; i < STORE_CHANGE_SENDER_BATCH; i++)
        shelf_set(&shelf, "k", i, i, 0);
    sent = run_batch();
    assert_int_equal(sent.sets, 1);
    assert_int_equal(sent.last.value, STORE_CHANGE_SENDER_BATCH - 1);
    shelf_set(&shelf, "k", 1, 7, 0);
    sent = run_batch();
    assert_int_equal(sent.sets, 1);
    assert_int_equal(sent.last.value, 7);
}

static void what_is_gone_is_deleted_at_once(void **state)
{
    sent_t sent;

    (void)state;
    shelf_set(&shelf, "k", 1, 10, 0);
    fill_batch(1);
    shelf_delete(&shelf, "k");
    sent = run_batch();
    assert_int_equal(sent.deletes, 1);
    shelf_set(&shelf, "k", 1, 10, 0);
    sent = run_batch();
    assert_int_equal(sent.deletes, 0);
    assert_int_equal(sent.sets, 1);
}

static void change_k(uint32_t exptime, unsigned bits)
{
    store_bucket_t b;
    store_item_t *item;

    store_index_lock(&b, shelf.space, "k", 1);
    item = store_index_find(&b, NULL);
    assert_non_null(item);
    if (exptime)
        store_index_touch(&b, item, exptime);
    if (bits)
        store_index_bits(&b, item, bits, 0);
    store_index_unlock(&b);
}

/* A touch sends the time only, so the bits that have changed after it are still
 * to be sent. */
static void a_touch_hides_no_later_change(void **state)
{
    sent_t sent;

    (void)state;
    shelf_set(&shelf, "k", 1, 10, 0);
    run_batch();
    change_k(UINT32_MAX, 0);
    change_k(0, STORE_STALE);
    sent = run_batch();
    assert_int_equal(sent.touches, 1);
    assert_int_equal(sent.sets, 1);
    assert_int_equal(sent.last.bits & UINT8_MAX, STORE_STALE);
}

/* A slave that gets it before the flush would let the flush kill it. */
static void what_was_sent_before_a_flush_is_sent_again(void **state)
{
    sent_t sent;

    (void)state;
    shelf_set(&shelf, "k", 1, 10, 0);
    fill_batch(1);
    store_space_flush(shelf.space, 0);
    shelf_set(&shelf, "k", 2, 20, 0);
    sent = run_batch();
    assert_int_equal(sent.sets, 1);
    assert_int_equal(sent.flushes, 0);
    sent = run_batch();
    assert_int_equal(sent.flushes, 1);
    assert_int_equal(sent.sets, 1);
    assert_int_equal(sent.last.value, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_newer_state_is_sent_for_an_older_change, setup, teardown),
        cmocka_unit_test_setup_teardown(a_key_that_changes_often_is_sent_once,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_gone_is_deleted_at_once, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_touch_hides_no_later_change, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            what_was_sent_before_a_flush_is_sent_again, setup, teardown),
    };

    alarm(300);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
