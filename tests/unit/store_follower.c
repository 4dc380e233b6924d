/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The slave's thread, and a master at a socket. */

#include "store/cluster/follower.h"

#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "store/cluster/stream.h"
#include "store/memory/region.h"
#include "base/secret.h"
#include "tests/unit/support/fake_master.h"
#include "tests/unit/support/notes.h"

#define LIMIT 40000 /* ms */

static void send_wire(int fd)
{
    assert_int_equal(send(fd, fake_wire.bytes, fake_wire.n, MSG_NOSIGNAL),
                     fake_wire.n);
}

static void await_state(int (*is)(const store_follower_state_t *))
{
    store_follower_state_t s;
    int i;

    for (i = 0; i < LIMIT; i++) {
        store_follower_state(&s);
        if (is(&s))
            return;
        poll(NULL, 0, 1);
    }
    fail_msg("the state is not reached");
}

static int is_connected(const store_follower_state_t *s)
{
    return s->connected;
}

static int is_complete(const store_follower_state_t *s)
{
    return s->connected && s->complete;
}

static int is_lost(const store_follower_state_t *s)
{
    return !s->connected && s->since != 0;
}

/* @return the connection of the slave, which has said hello */
static int begin(int listener)
{
    assert_int_equal(store_follower_begin(&fake_hooks), 0);
    return fake_accept(listener);
}

static void y6_it_keeps_its_items_when_the_master_is_gone(void **state)
{
    int listener = fake_listen(), fd;
    store_follower_state_t s;
    char beat = 1;

    (void)state;
    shelf_set(&fake_shelf, "own", 8, 8, 0);
    fd = begin(listener);
    fake_put_copy();
    send_wire(fd);
    await_state(is_complete);
    fake_await(fd);
    assert_int_equal(recv(fd, &beat, 1, 0), 1);
    assert_int_equal(beat, 0);
    close(fd);
    await_state(is_lost);
    store_follower_end(0);
    store_follower_state(&s);
    assert_true(s.complete);
    fake_expect_copy();
    assert_true(notes_count("the copy is complete"));
    close(listener);
}

/* The address came here: all that the old master had sent of a copy counts. */
static void y42_what_has_arrived_is_applied_before_the_end(void **state)
{
    int listener = fake_listen(), fd, round;

    (void)state;
    for (round = 0; round < 20; round++) {
        char key[16];
        int i;

        fd = begin(listener);
        fake_put_begin();
        send_wire(fd);
        await_state(is_connected);
        fake_wire.n = 0;
        for (i = 0; i < 50; i++) {
            snprintf(key, sizeof key, "%d", i);
            fake_put_set(key, (uint32_t)(round + i), 500, 0,
                         2000 + (uint64_t)i);
        }
        send_wire(fd);
        store_follower_end(0);
        for (i = 0; i < 50; i++) {
            snprintf(key, sizeof key, "%d", i);
            assert_true(
                shelf_get(&fake_shelf, key, (uint32_t)(round + i), 500));
        }
        close(fd);
    }
    close(listener);
}

/* ---- with TLS ---- */

static unsigned reads; /* of streams; atomic */

ssize_t __real_store_stream_read(store_stream_t *, void *to, size_t n);
ssize_t __wrap_store_stream_read(store_stream_t *, void *to, size_t n);
ssize_t __wrap_store_stream_read(store_stream_t *s, void *to, size_t n)
{
    __atomic_add_fetch(&reads, 1, __ATOMIC_RELAXED);
    return __real_store_stream_read(s, to, n);
}

/* What this writes passes the test before it comes to the slave. */
typedef struct {
    store_stream_t *stream;
    int wire; /* the other end of the stream */
    int slave;
} tls_master_t;

static size_t on_wire(int fd, char *bytes, size_t room)
{
    ssize_t n = recv(fd, bytes, room, MSG_DONTWAIT);

    return n > 0 ? (size_t)n : 0;
}

static void pass(int from, int to)
{
    char bytes[4096];
    size_t n = on_wire(from, bytes, sizeof bytes);

    assert_int_equal(send(to, bytes, n, MSG_NOSIGNAL), n);
}

static void begin_tls(tls_master_t *m, int listener)
{
    char hello[STORE_WIRE_SMALL_MAX + STORE_WIRE_HELLO_MAX];
    int ends[2], on = 1;

    fake_config.n_secret = STORE_SECRET_MIN;
    assert_int_equal(store_follower_begin(&fake_hooks), 0);
    fake_await(listener);
    m->slave = accept(listener, NULL, NULL);
    assert_int_equal(
        setsockopt(m->slave, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends),
                     0);
    m->wire = ends[1];
    m->stream =
        store_stream_make(ends[0], 1, fake_config.secret, fake_config.n_secret);
    do {
        fake_await(m->slave);
        pass(m->slave, m->wire);
        if (store_stream_read(m->stream, hello, sizeof hello) > 0)
            return;
        pass(m->wire, m->slave);
    } while (1);
}

static void end_tls(tls_master_t *m)
{
    store_stream_close(m->stream);
    close(m->wire);
    close(m->slave);
}

static void write_record(const tls_master_t *m)
{
    assert_int_equal(
        store_stream_write(m->stream, fake_wire.bytes, fake_wire.n),
        fake_wire.n);
    fake_wire.n = 0;
}

/* The beginning of a record is in the buffer of TLS, and is nothing to use. */
static void a_part_of_a_record_is_waited_for(void **state)
{
    int listener = fake_listen();
    char bytes[8192];
    unsigned before;
    tls_master_t m;
    size_t n;

    (void)state;
    begin_tls(&m, listener);
    fake_put_copy();
    write_record(&m);
    n = on_wire(m.wire, bytes, sizeof bytes);
    before = __atomic_load_n(&reads, __ATOMIC_RELAXED);
    assert_int_equal(send(m.slave, bytes, n - 20, MSG_NOSIGNAL), n - 20);
    while (__atomic_load_n(&reads, __ATOMIC_RELAXED) == before)
        poll(NULL, 0, 1);
    fake_await(m.slave); /* a heartbeat */
    assert_true(__atomic_load_n(&reads, __ATOMIC_RELAXED) - before < 10);
    assert_int_equal(send(m.slave, bytes + n - 20, 20, MSG_NOSIGNAL), 20);
    await_state(is_complete);
    store_follower_end(0);
    fake_expect_copy();
    end_tls(&m);
    close(listener);
}

/* Of several records, TLS has read more than it has given. */
static void what_tls_has_read_is_applied_before_the_end(void **state)
{
    int listener = fake_listen(), round;
    char key[16], bytes[65536];
    tls_master_t m;
    size_t n;
    int i;

    (void)state;
    for (round = 0; round < 20; round++) {
        begin_tls(&m, listener);
        fake_put_begin();
        write_record(&m);
        pass(m.wire, m.slave);
        await_state(is_connected);
        for (i = 0; i < 50; i++) {
            snprintf(key, sizeof key, "%d", i);
            fake_put_set(key, (uint32_t)(round + i), 500, 0,
                         2000 + (uint64_t)i);
            write_record(&m);
        }
        n = on_wire(m.wire, bytes, sizeof bytes);
        assert_int_equal(send(m.slave, bytes, n, MSG_NOSIGNAL), n);
        store_follower_end(0);
        for (i = 0; i < 50; i++) {
            snprintf(key, sizeof key, "%d", i);
            assert_true(
                shelf_get(&fake_shelf, key, (uint32_t)(round + i), 500));
        }
        end_tls(&m);
    }
    close(listener);
}

/* ---- a copy that comes when the follower ends ---- */

static int sender;

static void send_late(void)
{
    send_wire(sender);
    fake_on_beat = NULL;
}

/* A promotion or a stop does not throw away what this host has. */
static void no_copy_begins_at_the_end(void **state)
{
    int listener = fake_listen();
    store_follower_state_t s;

    (void)state;
    shelf_set(&fake_shelf, "own", 8, 8, 0);
    sender = begin(listener);
    fake_put_copy();
    fake_on_beat = send_late;
    store_follower_end(0);
    fake_on_beat = NULL;
    store_follower_state(&s);
    assert_false(s.has_begun);
    assert_true(shelf_get(&fake_shelf, "own", 8, 8));
    close(sender);
    close(listener);
}

/* ---- a host that answers and refuses is a master ---- */

static int was_refused(const store_follower_state_t *s)
{
    return s->has_tried && s->was_answered && s->refused_at != 0;
}

static int met_nobody(const store_follower_state_t *s)
{
    return s->has_tried && !s->was_answered;
}

static void a_refusal_is_an_answer(void **state)
{
    int listener = fake_listen();

    (void)state;
    assert_int_equal(store_follower_begin(&fake_hooks), 0);
    close(fake_accept(listener));
    await_state(was_refused);
    close(listener);
    await_state(met_nobody);
    store_follower_end(0);
}

/* The master has another secret. */
static void a_failed_handshake_is_a_refusal(void **state)
{
    int listener = fake_listen(), fd;

    (void)state;
    fake_config.n_secret = 32;
    assert_int_equal(store_follower_begin(&fake_hooks), 0);
    fd = accept(listener, NULL, NULL);
    assert_int_equal(send(fd, "no TLS", 6, MSG_NOSIGNAL), 6);
    await_state(was_refused);
    notes_expect("the store there has another secret (AppStoreKey)");
    store_follower_end(0);
    close(fd);
    close(listener);
}

static int has_tried(const store_follower_state_t *s)
{
    return s->has_tried;
}

/* The slave has ended the connection by itself. */
static void an_answer_that_is_wrong_is_no_refusal(void **state)
{
    int listener = fake_listen(), fd;
    store_follower_state_t s;

    (void)state;
    fd = begin(listener);
    memset(fake_wire.bytes, 'x', 100);
    fake_wire.n = 100;
    send_wire(fd);
    await_state(has_tried);
    store_follower_end(0);
    store_follower_state(&s);
    assert_true(s.was_answered);
    assert_int_equal(s.refused_at, 0);
    close(fd);
    close(listener);
}

/* The copy has nothing of a space that comes later, though it is complete. */
static void a_space_that_comes_begins_the_copy_again(void **state)
{
    int listener = fake_listen(), fd, again;
    store_follower_state_t s;

    (void)state;
    fd = begin(listener);
    fake_put_copy();
    send_wire(fd);
    await_state(is_complete);
    shelf_set(&fake_shelf, "own", 8, 8, 0);
    __atomic_add_fetch(&fake_generation, 1, __ATOMIC_RELEASE);
    again = fake_accept(listener);
    store_follower_state(&s);
    assert_false(s.complete);
    fake_put_begin();
    fake_put_copy();
    send_wire(again);
    await_state(is_complete);
    fake_expect_copy();
    assert_true(notes_count("a space has come to this host"));
    assert_false(notes_count("has ended"));
    store_follower_end(0);
    close(fd);
    close(again);
    close(listener);
}

static int is_copying(const store_follower_state_t *s)
{
    return s->connected && !s->complete;
}

static void a_space_that_comes_to_the_master_is_waited_for(void **state)
{
    int listener = fake_listen(), fd;

    (void)state;
    fd = begin(listener);
    fake_wire.n = 0;
    fake_put_hello("");
    fake_put_other(STORE_WIRE_COMPLETE, 0);
    send_wire(fd);
    await_state(is_complete);
    fake_wire.n = 0;
    fake_put_space("shop", 1000);
    send_wire(fd);
    await_state(is_copying);
    fake_wire.n = 0;
    fake_put_other(STORE_WIRE_COMPLETE, 0);
    send_wire(fd);
    await_state(is_complete);
    store_follower_end(0);
    close(fd);
    close(listener);
}

/* It is promoted before it could connect again. */
static void a_space_that_comes_at_the_end_is_missed(void **state)
{
    int listener = fake_listen(), fd;
    store_follower_state_t s;

    (void)state;
    fd = begin(listener);
    close(listener);
    fake_put_copy();
    send_wire(fd);
    await_state(is_complete);
    __atomic_add_fetch(&fake_generation, 1, __ATOMIC_RELEASE);
    store_follower_end(0);
    store_follower_state(&s);
    assert_true(s.has_begun);
    assert_false(s.complete);
    close(fd);
}

/* ---- millions of items are emptied ---- */

static int is_long, is_emptying; /* atomic */
static uint32_t lacked; /* the items were known to be no whole copy; atomic */

void __real_store_space_empty(store_space_t *, void (*progress)(void));
void __wrap_store_space_empty(store_space_t *, void (*progress)(void));
void __wrap_store_space_empty(store_space_t *space, void (*progress)(void))
{
    int i;

    STORE_SET(lacked, store_region_directory()->lacks);
    __atomic_store_n(&is_emptying, 1, __ATOMIC_RELEASE);
    for (i = 0; is_long && i < LIMIT &&
                __atomic_load_n(&fake_beats, __ATOMIC_RELAXED) == 0;
         i += 5) {
        poll(NULL, 0, 5);
        if (progress)
            progress();
    }
    __real_store_space_empty(space, progress);
}

/* A promotion waits for that in the main thread. */
static void the_end_has_a_heartbeat(void **state)
{
    int listener = fake_listen(), fd;

    (void)state;
    is_long = 1;
    __atomic_store_n(&is_emptying, 0, __ATOMIC_RELAXED);
    fd = begin(listener);
    fake_put_begin();
    send_wire(fd);
    while (!__atomic_load_n(&is_emptying, __ATOMIC_ACQUIRE))
        poll(NULL, 0, 1);
    assert_int_equal(__atomic_load_n(&fake_beats, __ATOMIC_RELAXED), 0);
    store_follower_end(0);
    assert_true(fake_beats > 0);
    is_long = 0;
    close(fd);
    close(listener);
}

/* A store that is killed while it is emptied has a part of its items. */
static void a_copy_is_not_complete_before_items_go(void **state)
{
    int listener = fake_listen(), fd;

    (void)state;
    STORE_SET(lacked, 0);
    assert_false(store_region_directory()->lacks);
    fd = begin(listener);
    fake_put_begin();
    send_wire(fd);
    await_state(is_connected);
    assert_true(STORE_GET(lacked));
    store_follower_end(0);
    close(fd);
    close(listener);
}

static void send_too_large(int fd, const char *key, uint64_t cas)
{
    fake_wire.n = 0;
    fake_put_set(key, 1, 1001, 0, cas);
    send_wire(fd);
}

/* The master may be full of items that this host has no room for. A line comes
 * at once, and at the end one for those since then. */
static void what_has_no_room_is_logged(void **state)
{
    int listener = fake_listen(), fd;

    (void)state;
    store_item_max = 1000;
    fd = begin(listener);
    fake_put_begin();
    fake_put_set("a", 1, 1001, 0, 20);
    fake_put_other(STORE_WIRE_COMPLETE, 0);
    send_wire(fd);
    notes_wait("1 had no room");
    assert_false(notes_count("of the master had no room"));
    send_too_large(fd, "b", 21);
    notes_wait(
        "changes of the master had no room here: 1, the last one in space "
        "shop");
    notes_clear();
    send_too_large(fd, "c", 22);
    send_too_large(fd, "d", 23);
    close(fd);
    await_state(is_lost);
    store_follower_end(0);
    assert_int_equal(notes_count("of the master had no room here: 2"), 1);
    close(listener);
}

static void it_ends_while_there_is_no_master(void **state)
{
    int listener = fake_listen();

    (void)state;
    close(listener);
    assert_int_equal(store_follower_begin(&fake_hooks), 0);
    notes_wait("no master is at 127.0.0.1");
    store_follower_end(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            y6_it_keeps_its_items_when_the_master_is_gone, fake_setup,
            fake_teardown),
        cmocka_unit_test_setup_teardown(
            y42_what_has_arrived_is_applied_before_the_end, fake_setup,
            fake_teardown),
        cmocka_unit_test_setup_teardown(
            a_space_that_comes_begins_the_copy_again, fake_setup,
            fake_teardown),
        cmocka_unit_test_setup_teardown(
            a_space_that_comes_to_the_master_is_waited_for, fake_setup,
            fake_teardown),
        cmocka_unit_test_setup_teardown(a_space_that_comes_at_the_end_is_missed,
                                        fake_setup, fake_teardown),
        cmocka_unit_test_setup_teardown(a_part_of_a_record_is_waited_for,
                                        fake_setup, fake_teardown),
        cmocka_unit_test_setup_teardown(
            what_tls_has_read_is_applied_before_the_end, fake_setup,
            fake_teardown),
        cmocka_unit_test_setup_teardown(the_end_has_a_heartbeat, fake_setup,
                                        fake_teardown),
        cmocka_unit_test_setup_teardown(no_copy_begins_at_the_end, fake_setup,
                                        fake_teardown),
        cmocka_unit_test_setup_teardown(a_refusal_is_an_answer, fake_setup,
                                        fake_teardown),
        cmocka_unit_test_setup_teardown(a_failed_handshake_is_a_refusal,
                                        fake_setup, fake_teardown),
        cmocka_unit_test_setup_teardown(an_answer_that_is_wrong_is_no_refusal,
                                        fake_setup, fake_teardown),
        cmocka_unit_test_setup_teardown(a_copy_is_not_complete_before_items_go,
                                        fake_setup, fake_teardown),
        cmocka_unit_test_setup_teardown(what_has_no_room_is_logged, fake_setup,
                                        fake_teardown),
        cmocka_unit_test_setup_teardown(it_ends_while_there_is_no_master,
                                        fake_setup, fake_teardown),
    };

    alarm(300);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
