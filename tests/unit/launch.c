/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* No app runs without a record: its process is in the registry and in the
 * segment before its child gets "go". */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spawner/start/start.h"
#include "spawner/process/process.h"
#include "tests/unit/support/scene.h"
#include "tests/unit/support/scratch.h"

static char done[64]; /* what was done, in words */
static int ordered;   /* orders that can be taken */
static int failing;   /* the registry cannot be written to */

static void note(const char *word)
{
    strncat(done, word, sizeof done - strlen(done) - 1);
}

apr_status_t __wrap_apl_supervise_next_order(apl_pool_t *pool, uint64_t id,
                                             int64_t now, apl_order_t *order);
apr_status_t __wrap_apl_supervise_forked(apl_pool_t *pool, uint64_t id,
                                         const apl_start_t *start, int64_t now);
apr_status_t __wrap_apl_reconcile_condition(const apl_pool_t *pool, uint64_t id,
                                            apl_condition_t *condition);
int __wrap_registry_write(uint32_t index, const registry_record_t *record);
int __real_registry_write(uint32_t index, const registry_record_t *record);
ssize_t __wrap_write(int fd, const void *bytes, size_t n);
ssize_t __real_write(int fd, const void *bytes, size_t n);
_Noreturn void __wrap_boot_app(const boot_t *boot);
_Noreturn void __real_boot_app(const boot_t *boot);

apr_status_t __wrap_apl_supervise_next_order(apl_pool_t *pool, uint64_t id,
                                             int64_t now, apl_order_t *order)
{
    (void)pool;
    (void)now;
    if (ordered-- <= 0)
        return APL_EIDLE;
    order->id = id;
    strcpy(order->name, "shop");
    return APR_SUCCESS;
}

apr_status_t __wrap_apl_supervise_forked(apl_pool_t *pool, uint64_t id,
                                         const apl_start_t *start, int64_t now)
{
    (void)pool;
    (void)id;
    (void)now;
    assert_true(start->identity.start > 0);
    note("segment ");
    return APR_SUCCESS;
}

apr_status_t __wrap_apl_reconcile_condition(const apl_pool_t *pool, uint64_t id,
                                            apl_condition_t *condition)
{
    (void)pool;
    (void)id;
    (void)condition;
    return APL_ESTALE;
}

int __wrap_registry_write(uint32_t index, const registry_record_t *record)
{
    if (failing)
        return -1;
    assert_true(record->pid > 1 && record->start > 0);
    note("registry ");
    return __real_registry_write(index, record);
}

ssize_t __wrap_write(int fd, const void *bytes, size_t n)
{
    if (n == 1 && *(const char *)bytes == 'g')
        note("go");
    return __real_write(fd, bytes, n);
}

/* In the child. */
_Noreturn void __wrap_boot_app(const boot_t *boot)
{
    char go;

    _exit(read(boot->go, &go, 1) == 1 ? 0 : 1);
}

static int begin(void **state)
{
    static app_entry_t app = {.app = {.name = "shop"}};
    static app_table_t table;
    spawner_t *s = scratch_begin();

    (void)state;
    table.by_name = apr_hash_make(s->pool);
    apr_hash_set(table.by_name, "shop", APR_HASH_KEY_STRING, &app);
    table.apps = &app;
    s->table = &table;
    s->rt.uid = geteuid();
    s->rt.gid = getegid();
    return loop_open() != 0 || registry_open(s->rt.fd) != 0 ||
           process_files_prepare(&s->rt) != 0;
}

static process_t *launch(void)
{
    spawner_t *s = state_spawner();

    done[0] = 0;
    ordered = 1;
    launch_orders(s);
    assert_non_null(s->processes);
    scratch_reap(s->processes->is.pid);
    return s->processes;
}

static void end(process_t *p)
{
    loop_drop(&p->reports);
    loop_drop(&p->fifo);
    loop_drop(&p->notify);
    process_files_remove(&state_spawner()->rt, p->is.id);
}

/* We had its socket as well, and the child is dead. */
static void a_dead_child_leaves_no_socket(void **state)
{
    process_t *p = launch();
    const spawner_t *s = state_spawner();

    (void)state;
    assert_int_equal(p->is.wire.listen, APL_LISTEN_FD);
    assert_int_equal(process_files_connect(&s->rt, p->is.id, &p->is.wire, -1),
                     -1);
    assert_int_equal(errno, ECONNREFUSED);
    end(p);
}

/* The spawner died before it could say go. */
static void it_does_nothing_unasked(void **state)
{
    static const app_entry_t app = {.app = {.root = "/nowhere"}};
    int go[2], report[2], status;
    boot_t boot = {.app = &app, .rt = &state_spawner()->rt, .listener = -1};
    pid_t pid;
    char byte;

    (void)state;
    assert_int_equal(pipe(go) | pipe(report), 0);
    close(go[1]);
    boot.go = go[0];
    boot.report = boot.output = report[1];
    pid = fork();
    if (pid == 0)
        __real_boot_app(&boot);
    close(go[0]);
    close(report[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    assert_int_equal(read(report[0], &byte, 1), 0);
    close(report[0]);
}

static void it_is_on_record_before_it_goes(void **state)
{
    process_t *p = launch();

    (void)state;
    assert_string_equal(done, "registry segment go");
    end(p);
}

static void it_does_not_go_without_a_record(void **state)
{
    process_t *p;

    (void)state;
    failing = 1;
    p = launch();
    failing = 0;
    assert_string_equal(done, "");
    assert_non_null(strstr(p->start.failure, "registered"));
    end(p);
}

/* A template has failed, and many starts have waited for it. */
static void all_that_waited_are_not_executed_at_once(void **state)
{
    spawner_t *s = state_spawner();
    process_t *p;
    int i, n[2] = {0, 0};

    (void)state;
    for (i = 0; i < 10; i++) {
        p = process_new(s, 0x10000u + (uint64_t)i, "shop");
        assert_non_null(p);
        p->forking.state = FORKING_EXECUTE;
    }
    for (i = 0; i < 2; i++) {
        launch_orders(s);
        for (p = s->processes; p; p = p->next)
            n[i] += p->is.pid != 0;
        for (p = s->processes; p && i == 0; p = p->next)
            p->phase = p->is.pid != 0 ? PHASE_LIVE : p->phase;
    }
    assert_int_equal(n[0], 8);
    assert_int_equal(n[1], 10);
    for (p = s->processes; p; p = p->next) {
        scratch_reap(p->is.pid);
        end(p);
    }
}

/* A template has forked these. They are not ready yet. */
static void add_forked(int from, int to)
{
    spawner_t *s = state_spawner();
    process_t *p;
    int i;

    for (i = from; i < to; i++) {
        p = process_new(s, 0x20000u + (uint64_t)i, "other");
        assert_non_null(p);
        p->is.began = s->now;
        p->is.template_id = 1;
    }
}

static int is_taken(void)
{
    ordered = 1;
    launch_orders(state_spawner());
    return ordered < 1;
}

/* An app may have eight processes forked at a time. They may take long until
 * they are ready. They keep no place that another app needs. */
static void forked_ones_of_an_app_count_as_one(void **state)
{
    spawner_t *s = state_spawner();
    process_t *p;

    (void)state;
    add_forked(0, 8);
    assert_true(is_taken());
    for (p = s->processes; p; p = p->next)
        if (p->is.pid != 0) {
            scratch_reap(p->is.pid);
            p->phase = PHASE_LIVE;
        }
    add_forked(8, 64);
    assert_false(is_taken());
    for (p = s->processes; p; p = p->next)
        end(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(it_is_on_record_before_it_goes,
                                  scratch_forget),
        cmocka_unit_test_teardown(it_does_not_go_without_a_record,
                                  scratch_forget),
        cmocka_unit_test_teardown(a_dead_child_leaves_no_socket,
                                  scratch_forget),
        cmocka_unit_test_teardown(all_that_waited_are_not_executed_at_once,
                                  scratch_forget),
        cmocka_unit_test_teardown(forked_ones_of_an_app_count_as_one,
                                  scratch_forget),
        cmocka_unit_test(it_does_nothing_unasked)};

    return cmocka_run_group_tests(tests, begin, scratch_end);
}
