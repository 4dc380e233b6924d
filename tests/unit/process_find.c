/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A process of an app is found by its id, its pid, its port and its path, also
 * when one of these is used again. Each process has a record of its own. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spawner/process/process.h"
#include "tests/unit/support/scene.h"
#include "tests/unit/support/scratch.h"

#define MANY 3000

static int setup(void **state)
{
    (void)state;
    return registry_open(scratch_begin()->rt.fd);
}

static process_t *begin(uint64_t id)
{
    process_t *p = process_new(state_spawner(), id, "shop");

    assert_non_null(p);
    return p;
}

static void forget(process_t *p)
{
    registry_clear(p->record);
    p->done = 1;
    process_collect(state_spawner());
}

static int forget_all(void **state)
{
    (void)state;
    while (state_spawner()->processes)
        forget(state_spawner()->processes);
    return 0;
}

static void by_its_id(void **state)
{
    process_t *of[MANY];
    uint64_t i;

    (void)state;
    assert_null(process_find(state_spawner(), 1));
    for (i = 0; i < MANY; i++)
        of[i] = begin(i << 16 | 1); /* all have had the same slot */
    for (i = 0; i < MANY; i++)
        assert_ptr_equal(process_find(state_spawner(), i << 16 | 1), of[i]);
    forget(of[7]);
    assert_null(process_find(state_spawner(), 7 << 16 | 1));
    assert_ptr_equal(process_find(state_spawner(), 8 << 16 | 1), of[8]);
}

/* The first one is dead, and not all of it is gone. */
static void by_its_pid(void **state)
{
    process_t *first = begin(1), *second = begin(2);

    (void)state;
    process_forked(state_spawner(), first, 4711);
    assert_ptr_equal(process_of_child(state_spawner(), 4711), first);
    first->gone = 1;
    assert_null(process_of_child(state_spawner(), 4711));
    process_forked(state_spawner(), second, 4711);
    assert_ptr_equal(process_of_child(state_spawner(), 4711), second);
    forget(first);
    assert_ptr_equal(process_of_child(state_spawner(), 4711), second);
    forget(second);
    assert_null(process_of_child(state_spawner(), 4711));
}

static void by_its_port(void **state)
{
    registry_record_t is = {.id = 2, .name = "shop", .wire = {.port = 2000}};
    process_t *first = begin(1), *adopted;

    (void)state;
    process_has_port(state_spawner(), first, 1000);
    adopted = process_adopted(state_spawner(), 5, &is);
    assert_ptr_equal(process_of_port(state_spawner(), 1000), first);
    assert_ptr_equal(process_of_port(state_spawner(), 2000), adopted);
    assert_null(process_of_port(state_spawner(), 0));
    forget(first);
    assert_null(process_of_port(state_spawner(), 1000));
}

static void by_its_path(void **state)
{
    const runtime_dir_t *rt = &state_spawner()->rt;
    process_t *fd = begin(0x70001), *own = begin(0x70002), *tcp = begin(3);
    process_files_path_t path;
    char odd[sizeof path + 1];

    (void)state;
    fd->is.wire.listen = APL_LISTEN_FD;
    own->is.wire.listen = APL_LISTEN_UNIX;
    tcp->is.wire.listen = APL_LISTEN_TCP;
    process_files_path(rt, CONTRACT_SOCKETS, 0x70001, path);
    assert_ptr_equal(process_of_path(state_spawner(), path), fd);
    snprintf(odd, sizeof odd, "%s0", path);
    assert_null(process_of_path(state_spawner(), odd));
    path[strlen(path) - 1] = 0;
    assert_null(process_of_path(state_spawner(), path));
    process_files_path(rt, CONTRACT_OWN, 0x70002, path);
    assert_ptr_equal(process_of_path(state_spawner(), path), own);
    process_files_path(rt, CONTRACT_SOCKETS, 0x70002, path); /* another kind */
    assert_null(process_of_path(state_spawner(), path));
    process_files_path(rt, CONTRACT_SOCKETS, 3, path);
    assert_null(process_of_path(state_spawner(), path));
    assert_null(process_of_path(state_spawner(), state_spawner()->rt.dir));
    assert_null(
        process_of_path(state_spawner(), "/run/other/s/0000000000070001"));
    assert_null(process_of_path(state_spawner(), ""));
}

static void each_has_a_record(void **state)
{
    registry_record_t is = {.id = 9, .name = "shop"};
    process_t *adopted = process_adopted(state_spawner(), 1, &is);
    process_t *of[3], *next;
    int i;

    (void)state;
    for (i = 0; i < 3; i++)
        of[i] = begin((uint64_t)i + 1);
    assert_int_equal(adopted->record, 1);
    assert_int_equal(of[0]->record, 0);
    assert_int_equal(of[1]->record, 2);
    assert_int_equal(of[2]->record, 3);
    forget(of[1]);
    next = begin(10);
    assert_int_equal(next->record, 2);
}

static void there_are_no_more_records(void **state)
{
    uint32_t i;

    (void)state;
    for (i = 0; i < REGISTRY_MAX; i++)
        assert_int_equal(registry_take(), i);
    assert_int_equal(registry_take(), -1);
    assert_null(process_new(state_spawner(), 1, "shop"));
    assert_null(process_find(state_spawner(), 1));
    registry_clear(40000);
    assert_int_equal(begin(1)->record, 40000);
    for (i = 0; i < REGISTRY_MAX; i++)
        registry_clear(i);
}

/* A broken assumption ends the program, and says where. */
static void a_mistake_of_ours_is_a_panic(void **state)
{
    process_t *p = begin(1);
    char printed[256] = "";
    int ends[2], status;
    pid_t pid;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    pid = fork();
    if (pid == 0) {
        signal(SIGABRT, SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        process_forked(state_spawner(), p, -1);
        _exit(0);
    }
    close(ends[1]);
    assert_true(read(ends[0], printed, sizeof printed - 1) > 0);
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_non_null(strstr(printed, "spawner/process/process.c:"));
    assert_non_null(strstr(printed, "it must hold that pid > 1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(by_its_id, forget_all),
        cmocka_unit_test_teardown(by_its_pid, forget_all),
        cmocka_unit_test_teardown(by_its_port, forget_all),
        cmocka_unit_test_teardown(by_its_path, forget_all),
        cmocka_unit_test_teardown(each_has_a_record, forget_all),
        cmocka_unit_test_teardown(there_are_no_more_records, forget_all),
        cmocka_unit_test_teardown(a_mistake_of_ours_is_a_panic, forget_all),
    };

    return cmocka_run_group_tests(tests, setup, scratch_end);
}
