/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A process reports how it starts, and accepts connections, while the loop does
 * something else. The first request comes as soon as it is ready. */

#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "spawner/start/start.h"
#include "spawner/process/process.h"
#include "spawner/process/process_signal.h"
#include "tests/unit/support/scene.h"
#include "tests/unit/support/scratch.h"

static spawner_t *s;
static scene_t *scene;
static process_t *p;
static apl_session_ref_t h; /* a request that waits for the process */
static int child;           /* its end of the pipe */

void __wrap_process_signal(spawner_t *state, process_t *to, int sign);

/* The process is this one. */
void __wrap_process_signal(spawner_t *state, process_t *to, int sign)
{
    (void)state;
    (void)to;
    (void)sign;
}

static void ignore(void *owner, uint32_t events)
{
    (void)owner;
    (void)events;
}

static int start_one(void **state)
{
    static app_entry_t app = {.app = {.name = "shop"}};
    static app_table_t table;
    int ends[2];

    (void)state;
    s = scratch_begin();
    table.by_name = apr_hash_make(s->pool);
    apr_hash_set(table.by_name, "shop", APR_HASH_KEY_STRING, &app);
    s->table = &table;
    s->by_port = apr_hash_make(s->pool);
    scene = scene_new(2);
    s->shm = scene->pool;
    s->now = scene->now;
    assert_int_equal(scene_ask(scene, &h, scene_app(scene, "shop")), APL_EWAIT);
    p = process_new(s, scene_take(scene), "shop");
    if (!p || loop_open() != 0 || registry_open(s->rt.fd) != 0 ||
        pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return -1;
    child = ends[1];
    p->phase = PHASE_BOOTING;
    p->is.pid = getpid();
    p->is.wire = (apl_wire_t){APL_LISTEN_TCP, APL_AUTO, 0, 1};
    return loop_add(&p->reports, ends[0], EPOLLIN, ignore, p);
}

static int finish(void **state)
{
    close(child);
    loop_drop(&p->reports);
    process_end_probe(p);
    p->done = 1;
    process_collect(s);
    scene_drop(scene);
    return scratch_end(state);
}

/* It reports this, or nothing (NULL), and its port accepts connections. Then
 * the loop looks. */
static void accepts_after(const boot_report_t *report)
{
    int ends[2];

    if (report)
        assert_int_equal(write(child, report, sizeof *report), sizeof *report);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends),
                     0);
    p->ready.probe = ends[0];
    p->ready.probed_at = s->now;
    ready_check(s);
    close(ends[1]);
}

static void its_protocol_is_known_before(void **state)
{
    static const boot_report_t report = {.kind = BOOT_COMMAND,
                                         .text = "serve",
                                         .protocol = APL_FCGI,
                                         .concurrency = 5};

    (void)state;
    accepts_after(&report);
    assert_int_equal(p->phase, PHASE_LIVE);
    assert_int_equal(scene_poll(scene, &h), APR_SUCCESS);
    assert_int_equal(h.wire.protocol, APL_FCGI);
    assert_int_equal(h.wire.concurrency, 5);
}

/* Another process of its user, or of root, listens on its port. */
static void not_before_it_is_executed(void **state)
{
    static const boot_report_t user = {.kind = BOOT_USER, .text = "shop"};

    (void)state;
    accepts_after(NULL);
    assert_int_equal(p->phase, PHASE_BOOTING);
    process_end_probe(p);
    accepts_after(&user);
    assert_int_equal(p->phase, PHASE_BOOTING);
    assert_int_equal(scene_poll(scene, &h), APL_EWAIT);
}

static void a_failed_start_is_not_ready(void **state)
{
    static const boot_report_t report = {.kind = BOOT_FAILED, .text = "no"};

    (void)state;
    accepts_after(&report);
    assert_int_equal(p->phase, PHASE_KILLED);
    assert_int_equal(scene_poll(scene, &h), APL_EWAIT);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, start_one, finish)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(its_protocol_is_known_before),
                                       TEST(not_before_it_is_executed),
                                       TEST(a_failed_start_is_not_ready)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
