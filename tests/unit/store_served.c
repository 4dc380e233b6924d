/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The spaces of the table: their numbers, and what other threads read of them
 * while the table changes. */

#include "store/server/spaces.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/secret.h"
#include "store/protocol/protocols.h"
#include "store/memory/region.h"
#include "store/server/main_loop.h"
#include "store/server/mailbox.h"
#include "store/server/password.h"
#include "store/server/tcp_listener.h"
#include "tests/unit/support/shelf.h"
#include "tests/unit/support/temporary.h"

#define CHANGES 300

static shelf_t shelf;
static char directory[TEMPORARY_MAX];

static int watch(store_served_t *s)
{
    (void)s;
    return 0;
}

static void unwatch(store_served_t *s)
{
    (void)s;
}

static void on_tcp(void *ctx)
{
    (void)ctx;
}

/* The table has the spaces with these letters. */
static void apply(const char *letters, uint32_t max_connections)
{
    store_config_space_t spaces[8];
    store_config_t config = {.spaces = spaces};

    memset(spaces, 0, sizeof spaces);
    for (; *letters; letters++) {
        store_config_space_t *s = &spaces[config.n_spaces++];

        s->name[0] = s->key[0] = *letters;
        s->size = 1 << 20;
        s->max_connections = max_connections;
        s->n_uids = 1;
        s->uids = calloc(1, sizeof *s->uids);
    }
    store_spaces_apply(&config);
}

static int is_number(unsigned n, char letter)
{
    const store_space_t *space = store_spaces_nth(n);

    return letter ? space && space->name[0] == letter : space == NULL;
}

static int setup(void **state)
{
    static store_spaces_hooks_t hooks = {
        .directory = directory, .watch = watch, .unwatch = unwatch};

    (void)state;
    assert_non_null(temporary_dir(directory, "store-served"));
    shelf_open(&shelf, 16, 1);
    store_spaces_begin(&hooks);
    store_tcp_listener_begin(&(store_cluster_t){.n_peers = 0}, on_tcp);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    store_spaces_stop();
    while (store_spaces_list())
        store_spaces_forget(store_spaces_list());
    shelf_close(&shelf);
    return rmdir(directory);
}

/* Who goes over them by number meets each one, whatever comes or goes
 * meanwhile. */
static void a_space_keeps_its_number(void **state)
{
    (void)state;
    apply("ab", 10);
    assert_true(is_number(0, 'a') && is_number(1, 'b') && is_number(2, 0));
    apply("b", 10);
    assert_true(store_spaces_find("a")->gone);
    assert_true(is_number(0, 'a') && is_number(1, 'b'));
    apply("cb", 10);
    assert_true(is_number(0, 'a') && is_number(1, 'b') && is_number(2, 'c') &&
                is_number(3, 0));
}

static void a_space_that_comes_is_a_new_generation(void **state)
{
    unsigned first;

    (void)state;
    apply("a", 10);
    first = store_spaces_generation();
    apply("a", 20);
    assert_int_equal(store_spaces_generation(), first);
    apply("ab", 20);
    assert_int_equal(store_spaces_generation(), first + 1);
    apply("b", 20);
    assert_int_equal(store_spaces_generation(), first + 1);
    apply("ab", 20);
    assert_int_equal(store_spaces_generation(), first + 2);
}

/* The slot of a space that is forgotten is that of the next space. */
static void a_space_that_comes_has_counted_nothing(void **state)
{
    store_counters_t *counters, seen;
    store_served_t *s;
    unsigned slot;

    (void)state;
    apply("a", 10);
    s = store_spaces_find("a");
    slot = s->space->slot;
    counters = &store_region_figures()->worker[3][slot];
    store_count(counters, STORE_GETS, 5);
    store_stats_reset(s->space);
    store_count(counters, STORE_GETS, 2);
    apply("", 10);
    store_spaces_forget(s);
    memset(&store_region_directory()->entry[slot], 0, sizeof(store_entry_t));
    apply("b", 10);
    s = store_spaces_find("b");
    assert_int_equal(s->space->slot, slot);
    store_stats_sum(s->space, &seen);
    assert_int_equal(seen.n[STORE_GETS], 0);
}

/* ---- a listener that cannot be watched ---- */

static int fails_to_watch; /* the next one */

int __real_epoll_ctl(int epoll, int what, int fd, struct epoll_event *e);
int __wrap_epoll_ctl(int epoll, int what, int fd, struct epoll_event *e);
int __wrap_epoll_ctl(int epoll, int what, int fd, struct epoll_event *e)
{
    if (what != EPOLL_CTL_ADD || !fails_to_watch)
        return __real_epoll_ctl(epoll, what, fd, e);
    fails_to_watch = 0;
    errno = ENOSPC;
    return -1;
}

/* A port that no other process gets before this socket is closed. A listener
 * may share it. */
static int claim_port(uint16_t *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    socklen_t n = sizeof at;

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &n), 0);
    *port = ntohs(at.sin_port);
    return fd;
}

/* @param ctx counts those that the store has itself */
static void count_ours(void *ctx, const char *name, int fd)
{
    *(int *)ctx += store_tcp_listener_stays(name, fd);
    close(fd);
}

/* A copy that nobody reads keeps the port. */
static void a_listener_that_is_not_watched_is_made_again(void **state)
{
    store_config_t config = {.n_listens = 1};
    store_config_listen_t *l = &config.listen[0];
    int ends[2], ours = 0, claim = claim_port(&l->port);

    (void)state;
    assert_int_equal(store_loop_begin(), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    store_mailbox_open(ends[0], ends[1]);
    assert_int_equal(store_address_parse("127.0.0.1", &l->address), 0);
    store_spaces_apply(&config);
    fails_to_watch = 1;
    store_spaces_apply(&config);
    assert_false(fails_to_watch);
    assert_int_equal(store_mailbox_peek(count_ours, &ours), 1);
    assert_int_equal(ours, 1);
    store_spaces_stop();
    store_mailbox_open(-1, -1);
    close(claim);
    close(ends[0]);
    close(ends[1]);
}

/* ---- other threads ---- */

static int stop; /* atomic */

static void *log_in(void *password)
{
    store_served_t *s;

    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        s = store_password_check("b", 1, password, strlen(password));
        assert_non_null(s);
        store_spaces_count(s, -1);
        assert_null(store_password_check("b", 1, "wrong", 5));
        assert_true(store_spaces_admits(s, 0));
    }
    return NULL;
}

static void clients_log_in_while_the_table_changes(void **state)
{
    store_cluster_t cluster = {.n_secret = STORE_SECRET_MIN};
    char password[STORE_PASSWORD];
    pthread_t thread;
    unsigned i;

    (void)state;
    if (!secret_is_supported())
        skip();
    assert_int_equal(
        secret_password(cluster.secret, cluster.n_secret, "b", password), 0);
    apply("abc", 10);
    store_password_update(&cluster);
    assert_int_equal(pthread_create(&thread, NULL, log_in, password), 0);
    for (i = 0; i < CHANGES; i++) {
        apply(i % 2 ? "ab" : "bc", 10 + i % 7);
        store_password_update(&cluster);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_space_keeps_its_number, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_space_that_comes_has_counted_nothing,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_space_that_comes_is_a_new_generation,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_listener_that_is_not_watched_is_made_again, setup, teardown),
        cmocka_unit_test_setup_teardown(clients_log_in_while_the_table_changes,
                                        setup, teardown),
    };

    alarm(300);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
