/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* When a master ends: its address is gone for sure. */

#include "store/cluster/role.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock_ms.h"
#include "base/heartbeat.h"
#include "store/cluster/follower.h"
#include "store/cluster/promotion.h"
#include "store/memory/region.h"
#include "tests/unit/support/notes.h"
#include "tests/unit/support/shelf.h"

static shelf_t shelf;
static store_cluster_t config;
static int here;      /* what a look at the addresses finds */
static int kernel;    /* its end of the netlink socket */
static int listeners; /* that are watched */
static int closed;    /* how often the clients were */
static void (*on_report)(void *);

/* ---- what the role calls ---- */

int __wrap_store_vip_is_here(const store_address_t *);
int __wrap_store_vip_is_here(const store_address_t *address)
{
    assert_ptr_equal(address, &config.vip);
    return here;
}

void heartbeat(void)
{
}

/* The follower, without its thread. */
static int answers;        /* a host takes its connection */
static int complete;       /* its copy is */
static int64_t refused_at; /* by a master */
static int64_t marked_at;  /* the last mark; 0: just now */
static int64_t lag;        /* of it */

int __wrap_store_follower_begin(const store_cluster_hooks_t *);
int __wrap_store_follower_begin(const store_cluster_hooks_t *of)
{
    (void)of;
    return 0;
}

void __wrap_store_follower_state(store_follower_state_t *);
void __wrap_store_follower_state(store_follower_state_t *s)
{
    memset(s, 0, sizeof *s);
    s->has_tried = s->has_asked = 1;
    s->was_answered = answers;
    s->complete = s->has_begun = complete;
    s->refused_at = refused_at;
    s->marked_at = marked_at != 0 ? marked_at : clock_ms();
    s->lag = lag;
    s->since = complete && refused_at != 0 ? refused_at - 5000 : 0;
}

static int64_t now = 1000000; /* ms: only a test moves the role's clock */

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

static store_space_t *find(const char *name)
{
    (void)name;
    return shelf.space;
}

static store_space_t *nth(unsigned n)
{
    return n == 0 ? shelf.space : NULL;
}

/* The first one is the netlink socket. */
static int watch(int fd, void (*call)(void *), void *ctx)
{
    int ends[2];

    assert_null(ctx);
    if (listeners++ > 0)
        return 0;
    on_report = call;
    assert_int_equal(
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
    kernel = ends[0];
    assert_int_equal(dup2(ends[1], fd), fd);
    close(ends[1]);
    return 0;
}

static void unwatch(int fd)
{
    (void)fd;
    listeners--;
}

static void close_clients(void)
{
    closed++;
}

static void pause_clients(int on)
{
    (void)on;
}

static const store_cluster_hooks_t hooks = {.config = &config,
                                            .find = find,
                                            .nth = nth,
                                            .watch = watch,
                                            .unwatch = unwatch,
                                            .close_clients = close_clients,
                                            .pause = pause_clients};

/* The kernel says that the address has come or gone. */
static void report(uint16_t type)
{
    struct {
        struct nlmsghdr head;
        struct ifaddrmsg about;
        struct rtattr attribute;
        struct in_addr address;
    } r = {.head = {.nlmsg_len = sizeof r, .nlmsg_type = type},
           .about = {.ifa_family = AF_INET, .ifa_prefixlen = 24},
           .attribute = {sizeof r.attribute + sizeof r.address, IFA_LOCAL},
           .address = config.vip.u.v4};

    assert_int_equal(send(kernel, &r, sizeof r, 0), sizeof r);
    on_report(NULL);
}

static time_t begun; /* before the role */

static int setup(void **state)
{
    (void)state;
    begun = time(NULL);
    shelf_open(&shelf, 16, 1);
    memset(&config, 0, sizeof config);
    assert_int_equal(store_address_parse("127.0.0.77", &config.vip), 0);
    here = 1;
    closed = listeners = 0;
    assert_int_equal(store_role_begin(&hooks), 0);
    assert_int_equal(store_role(), STORE_MASTER);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    store_role_end();
    assert_int_equal(listeners, 0);
    close(kernel);
    shelf_close(&shelf);
    return 0;
}

/* Addresses of other programs come and go: the list is read in parts. */
static void one_look_does_not_end_a_master(void **state)
{
    int i;

    (void)state;
    for (i = 0; i < 100; i++) {
        here = 0;
        store_role_tick(clock_ms());
        assert_true(store_role_is_hurried());
        here = i % 2 ? 1 : -1;
        store_role_tick(clock_ms());
        here = 1;
        report(RTM_NEWADDR);
        assert_false(store_role_is_hurried());
    }
    assert_false(store_role_is_over());
    assert_int_equal(closed, 0);
}

static void a_report_alone_does_not_end_a_master(void **state)
{
    (void)state;
    report(RTM_DELADDR);
    assert_false(store_role_is_over());
}

static void a_report_and_a_look_end_a_master(void **state)
{
    (void)state;
    here = 0;
    report(RTM_NEWADDR);
    assert_false(store_role_is_over());
    report(RTM_DELADDR);
    assert_true(store_role_is_over());
    assert_int_equal(closed, 1);
}

/* The report was lost. */
static void a_second_look_ends_a_master(void **state)
{
    (void)state;
    here = 0;
    store_role_tick(clock_ms());
    assert_false(store_role_is_over());
    now += 49;
    store_role_tick(clock_ms());
    assert_false(store_role_is_over());
    now++;
    store_role_tick(clock_ms());
    assert_true(store_role_is_over());
    assert_int_equal(closed, 1);
}

/* Many clients keep a cas in a double. */
static void a_cas_fits_into_a_double(void **state)
{
    uint64_t cas = STORE_GET(shelf.space->entry->cas);

    (void)state;
    assert_true(cas >=
                (uint64_t)begun * 1000 * STORE_CAS_MS - STORE_CAS_UNHEARD);
    assert_true(cas < UINT64_C(1) << 53);
}

/* ---- a slave that has met no master ---- */

static int setup_slave(void **state)
{
    (void)state;
    shelf_open(&shelf, 16, 1);
    memset(&config, 0, sizeof config);
    assert_int_equal(store_address_parse("127.0.0.77", &config.vip), 0);
    here = closed = listeners = 0;
    answers = complete = 0;
    refused_at = marked_at = lag = 0;
    return 0;
}

static void begin_slave(void)
{
    assert_int_equal(store_role_begin(&hooks), 0);
    assert_int_equal(store_role(), STORE_SLAVE);
    now += STORE_FOLLOWER_LOOKS;
}

static void take_address(void)
{
    notes_clear();
    here = 1;
    store_role_tick(clock_ms());
    assert_int_equal(store_role(), STORE_MASTER);
}

static void one_that_met_no_master_is_ready(void **state)
{
    (void)state;
    begin_slave();
    assert_int_equal(store_role_is_ready(), STORE_READY_YES);
    now--;
    assert_int_not_equal(store_role_is_ready(), STORE_READY_YES);
}

static void one_that_was_refused_is_not(void **state)
{
    (void)state;
    answers = 1;
    begin_slave();
    assert_int_not_equal(store_role_is_ready(), STORE_READY_YES);
    answers = 0;
    assert_int_equal(store_role_is_ready(), STORE_READY_YES);
}

/* It was too slow, so the master has dropped it, and lets it wait. */
static void one_that_was_dropped_is_not(void **state)
{
    (void)state;
    complete = answers = 1;
    begin_slave();
    assert_int_equal(store_role_is_ready(), STORE_READY_YES);
    refused_at = now;
    marked_at = now - 5000;
    now += 10000; /* and then its copy is old */
    assert_int_not_equal(store_role_is_ready(), STORE_READY_YES);
    take_address();
    notes_expect(
        "but its copy is 15 s old, because the last master refused it");
}

/* Another slave may have newer data. */
static void one_that_has_an_old_copy_is_not(void **state)
{
    const store_cluster_figures_t *figures = &store_region_figures()->cluster;

    (void)state;
    complete = 1;
    begin_slave();
    assert_int_equal(store_role_is_ready(), STORE_READY_YES);
    lag = STORE_LAG_MOST;
    assert_int_equal(store_role_is_ready(), STORE_READY_YES);
    lag++; /* of a mark that has just come: the lease is not over */
    assert_int_not_equal(store_role_is_ready(), STORE_READY_YES);
    store_role_tick(clock_ms());
    assert_int_equal(STORE_GET(figures->lag_ms), STORE_LAG_MOST + 1);
    assert_int_equal(STORE_GET(figures->age_ms), STORE_LAG_MOST + 2);
    lag = 0;
    marked_at = now;
    now += STORE_LEASE;
    assert_int_equal(store_role_is_ready(), STORE_READY_YES);
    now++;
    assert_int_not_equal(store_role_is_ready(), STORE_READY_YES);
}

/* It never was connected: the age of what it has is not known. */
static void one_that_no_master_took_has_its_own(void **state)
{
    (void)state;
    begin_slave();
    refused_at = now;
    take_address();
    notes_expect("with its own items: the last master refused it, so they may "
                 "be old");
}

/* Without other hosts, what it has is the whole. */
static void one_that_is_alone_lacks_nothing(void **state)
{
    (void)state;
    store_region_directory()->lacks = 1;
    config.vip.family = AF_UNSPEC;
    assert_int_equal(store_role_begin(&hooks), 0);
    assert_int_equal(store_role(), STORE_ALONE);
    assert_false(store_region_directory()->lacks);
    kernel = -1;
}

/* Another host has more. An administrator may give it the address. */
static void one_with_a_part_of_a_copy_is_not(void **state)
{
    (void)state;
    store_region_directory()->lacks = 1;
    begin_slave();
    assert_int_not_equal(store_role_is_ready(), STORE_READY_YES);
    take_address();
    assert_int_equal(store_role_is_ready(), STORE_READY_YES);
    assert_false(STORE_GET(store_region_figures()->cluster.complete));
    assert_false(store_region_directory()->lacks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_look_does_not_end_a_master, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_report_alone_does_not_end_a_master,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_report_and_a_look_end_a_master, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_second_look_ends_a_master, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_cas_fits_into_a_double, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(one_that_met_no_master_is_ready,
                                        setup_slave, teardown),
        cmocka_unit_test_setup_teardown(one_that_was_refused_is_not,
                                        setup_slave, teardown),
        cmocka_unit_test_setup_teardown(one_that_was_dropped_is_not,
                                        setup_slave, teardown),
        cmocka_unit_test_setup_teardown(one_that_has_an_old_copy_is_not,
                                        setup_slave, teardown),
        cmocka_unit_test_setup_teardown(one_that_no_master_took_has_its_own,
                                        setup_slave, teardown),
        cmocka_unit_test_setup_teardown(one_that_is_alone_lacks_nothing,
                                        setup_slave, teardown),
        cmocka_unit_test_setup_teardown(one_with_a_part_of_a_copy_is_not,
                                        setup_slave, teardown),
    };

    alarm(300);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
