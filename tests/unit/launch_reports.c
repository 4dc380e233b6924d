/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The reports of a booting child, each of which counts once. The messages of an
 * app to $NOTIFY_SOCKET. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spawner/start/start.h"
#include "spawner/spawner.h"
#include "spawner/process/process.h"
#include "spawner/process/guarded_socket.h"
#include "tests/unit/support/scene.h"
#include "tests/unit/support/scratch.h"

static process_t *p;
static int child;       /* its end of the pipe */
static apl_wire_t wire; /* that the segment got */
static int configured;  /* its app was changed */
static int ran;         /* of a failed start, as in the segment */

apr_status_t __wrap_apl_supervise_forked(apl_pool_t *pool, uint64_t id,
                                         const apl_start_t *start, int64_t now);
apr_status_t __wrap_apl_configure_group(apl_pool_t *pool, const apl_app_t *app,
                                        int prestart, int64_t now);
apr_status_t __wrap_apl_supervise_failed(apl_pool_t *pool, uint64_t id,
                                         int has_run, uint64_t error_id,
                                         const char *text, int64_t now);

apr_status_t __wrap_apl_supervise_forked(apl_pool_t *pool, uint64_t id,
                                         const apl_start_t *start, int64_t now)
{
    registry_record_t record;

    (void)pool;
    (void)now;
    assert_int_equal(id, 7);
    assert_int_equal(start->identity.pid, getpid());
    /* The next spawner must know it, too. */
    assert_int_equal(registry_read(p->record, &record), REGISTRY_RECORD);
    assert_memory_equal(&record.wire, &start->wire, sizeof record.wire);
    assert_int_equal(record.stamp, start->stamp);
    wire = start->wire;
    return APR_SUCCESS;
}

apr_status_t __wrap_apl_configure_group(apl_pool_t *pool, const apl_app_t *app,
                                        int prestart, int64_t now)
{
    (void)pool;
    (void)app;
    (void)prestart;
    (void)now;
    configured = 1;
    return APR_SUCCESS;
}

apr_status_t __wrap_apl_supervise_failed(apl_pool_t *pool, uint64_t id,
                                         int has_run, uint64_t error_id,
                                         const char *text, int64_t now)
{
    (void)pool;
    (void)id;
    (void)error_id;
    (void)text;
    (void)now;
    ran = has_run;
    return APR_SUCCESS;
}

static int begin(void **state)
{
    static app_entry_t app = {.app = {.name = "shop"}};
    static app_table_t table;

    (void)state;
    table.by_name = apr_hash_make(scratch_begin()->pool);
    apr_hash_set(table.by_name, "shop", APR_HASH_KEY_STRING, &app);
    table.apps = &app;
    state_spawner()->table = &table;
    return loop_open() != 0 || registry_open(state_spawner()->rt.fd) != 0;
}

static void ignore(void *owner, uint32_t events)
{
    (void)owner;
    (void)events;
}

static int fork_one(void **state)
{
    int ends[2];

    (void)state;
    p = process_new(state_spawner(), 7, "shop");
    if (!p || pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return -1;
    child = ends[1];
    p->is.pid = getpid();
    if (process_record(p, REGISTRY_BOOTING) != 0)
        return -1;
    return loop_add(&p->reports, ends[0], EPOLLIN, ignore, p);
}

static int forget(void **state)
{
    (void)state;
    close(child);
    loop_drop(&p->reports);
    p->done = 1;
    process_collect(state_spawner());
    return 0;
}

static void tell(uint32_t kind, uint32_t uid, const char *text)
{
    boot_report_t report = {.kind = kind,
                            .uid = uid,
                            .gid = uid,
                            .protocol = APL_FCGI,
                            .concurrency = 5,
                            .stamp = 77};

    snprintf(report.text, sizeof report.text, "%s", text);
    assert_int_equal(write(child, &report, sizeof report), sizeof report);
    start_reports_read(state_spawner(), p);
}

static void is(uint32_t uid, const char *user, const char *command)
{
    registry_record_t record;

    assert_int_equal(p->is.uid, uid);
    assert_int_equal(p->is.gid, uid);
    assert_string_equal(p->start.user, user);
    assert_string_equal(p->start.command ? p->start.command : "", command);
    assert_int_equal(registry_read(p->record, &record), REGISTRY_RECORD);
    assert_int_equal(record.uid, uid);
}

static void in_order(void **state)
{
    (void)state;
    tell(BOOT_USER, 1000, "shop");
    is(1000, "shop", "");
    tell(BOOT_COMMAND, 0, "serve");
    is(1000, "shop", "serve");
}

/* It also reports its wire protocol, and how many requests it takes. These
 * values count for its app only when the process is ready: the start may
 * fail. */
static void what_was_found(void **state)
{
    registry_record_t record;

    (void)state;
    state_spawner()->table->apps->app.options.concurrency =
        APL_CONCURRENCY_AUTO;
    tell(BOOT_COMMAND, 0, "serve");
    assert_int_equal(wire.protocol, APL_FCGI);
    assert_int_equal(wire.concurrency, 5);
    assert_int_equal(registry_read(p->record, &record), REGISTRY_RECORD);
    assert_memory_equal(&record.wire, &wire, sizeof wire);
    assert_int_equal(record.stamp, 77);
    assert_int_equal(configured, 0);
}

static int fails_as_run(void)
{
    ran = -1;
    p->phase = PHASE_KILLED;
    p->deadline = INT64_MAX;
    p->start.failure = strdup("it ended");
    p->slot.listed = 1;
    life_tick(state_spawner());
    return ran;
}

/* Then clients get another message. */
static void a_failed_start_was_run_or_not(void **state)
{
    (void)state;
    tell(BOOT_USER, 1000, "shop");
    assert_int_equal(fails_as_run(), 0);
    free(p->start.failure);
    tell(BOOT_COMMAND, 0, "serve");
    assert_int_equal(fails_as_run(), 1);
    free(p->start.failure);
    /* The next spawner knows what is in the registry. */
    free(p->start.command);
    p->start.command = NULL;
    assert_int_equal(registry_read(p->record, &p->is), REGISTRY_RECORD);
    assert_int_equal(fails_as_run(), 1);
}

static void a_second_user(void **state)
{
    (void)state;
    tell(BOOT_USER, 1000, "shop");
    tell(BOOT_USER, 0, "root");
    is(1000, "shop", "");
}

static void a_user_after_the_command(void **state)
{
    (void)state;
    tell(BOOT_COMMAND, 0, "serve");
    tell(BOOT_USER, 0, "root");
    is(UINT32_MAX, "", "serve");
}

static void a_second_command(void **state)
{
    (void)state;
    tell(BOOT_USER, 1000, "shop");
    tell(BOOT_COMMAND, 0, "serve");
    tell(BOOT_COMMAND, 0, "other");
    is(1000, "shop", "serve");
}

/* ---- $NOTIFY_SOCKET ---- */

static int app = -1; /* its end */

static void open_notify(void)
{
    int ends[2];

    assert_int_equal(
        socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends),
        0);
    assert_int_equal(loop_add(&p->notify, ends[0], EPOLLIN, ignore, p), 0);
    app = ends[1];
}

static void close_notify(void)
{
    loop_drop(&p->notify);
    close(app);
}

static void a_line_of_its_own_says_ready(void **state)
{
    static const struct {
        const char *message;
        int is_ready, stops;
    } cases[] = {
        {"READY=1", 1, 0},
        {"READY=1\n", 1, 0},
        {"STATUS=up\nREADY=1\nMAINPID=1", 1, 0},
        {"READY=1\nSTOPPING=1", 1, 1},
        {"READY=10", 0, 0},
        {"READY=0", 0, 0},
        {"NOT_READY=1", 0, 0},
        {"STATUS=READY=1", 0, 0},
        {"", 0, 0},
    };
    size_t i;

    (void)state;
    open_notify();
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *message = cases[i].message;

        p->is.says_ready = p->is.stops_itself = 0;
        assert_int_equal(send(app, message, strlen(message), 0),
                         strlen(message));
        sd_notify_read(p, EPOLLIN);
        assert_int_equal(p->is.says_ready, cases[i].is_ready);
        assert_int_equal(p->is.stops_itself, cases[i].stops);
    }
    close_notify();
}

/* What it said is in the registry, for the next spawner. */
static void that_it_stops_is_recorded(void **state)
{
    registry_record_t record;

    (void)state;
    open_notify();
    assert_int_equal(send(app, "STOPPING=1", 10, 0), 10);
    sd_notify_read(p, EPOLLIN);
    assert_int_equal(registry_read(p->record, &record), REGISTRY_RECORD);
    assert_int_equal(record.stops_itself, 1);
    close_notify();
}

static void send_descriptor(void)
{
    char space[CMSG_SPACE(sizeof(int))] = "", word = 'X';
    struct iovec piece = {&word, 1};
    struct msghdr message = {.msg_iov = &piece,
                             .msg_iovlen = 1,
                             .msg_control = space,
                             .msg_controllen = sizeof space};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);

    header->cmsg_len = CMSG_LEN(sizeof(int));
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    memcpy(CMSG_DATA(header), &app, sizeof app);
    assert_int_equal(sendmsg(app, &message, 0), 1);
}

/* Where the kernel cannot refuse descriptors, the log says so once. */
static void nothing_is_read_behind_a_descriptor(void **state)
{
    (void)state;
    guarded_socket_by_hand();
    open_notify();
    send_descriptor();
    assert_int_equal(send(app, "READY=1", 7, 0), 7);
    sd_notify_read(p, EPOLLIN);
    assert_int_equal(p->is.says_ready, 0);
    assert_int_equal(p->notify.fd, -1);
    assert_int_equal(scratch_lines("sent a descriptor"), 1);
    close(app);
    while (waitpid(-1, NULL, 0) >
           0) /* the child that closes it (guarded_socket.h) */
        ;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fork_one, forget)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(in_order),
        TEST(what_was_found),
        TEST(a_failed_start_was_run_or_not),
        TEST(a_second_user),
        TEST(a_user_after_the_command),
        TEST(a_second_command),
        TEST(a_line_of_its_own_says_ready),
        TEST(that_it_stops_is_recorded),
        TEST(nothing_is_read_behind_a_descriptor)};

    return cmocka_run_group_tests(tests, begin, scratch_end);
}
