/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The lock is taken from a thread that does not hold it, and from no other. The
 * linker wraps the functions by which the spawner reads /proc. */

#include "spawner/control/control.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/lock/lock.h"
#include "system/procfs.h"
#include "tests/unit/support/scene.h"

#define PARENT 4711

static spawner_t *s;
static scene_t *scene;

/* The content of /proc, made by the test. */
static int readable;
static char runs;      /* state of each thread */
static uint32_t moves; /* by how much the sequence moves during a look */

int __wrap_procfs_read(pid_t pid, procfs_t *info);
pid_t __wrap_procfs_of_pidfd(int fd);

int __wrap_procfs_read(pid_t pid, procfs_t *info)
{
    if (!readable)
        return -1;
    memset(info, 0, sizeof *info);
    info->pid = pid;
    info->ppid = PARENT;
    info->state = runs;
    s->shm.header->sequence += moves;
    return 0;
}

pid_t __wrap_procfs_of_pidfd(int fd)
{
    (void)fd;
    return PARENT;
}

static int setup(void **state)
{
    (void)state;
    s = state_spawner();
    scene = scene_new(1);
    s->shm = scene->pool;
    readable = 1;
    runs = 'S';
    moves = 0;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    s->shm.header->lock = 0;
    lock_rescue_check(s);
    scene_drop(scene);
    return 0;
}

/* The lock word has the id of this thread for two seconds. @return 1: it is
 * free then */
static int is_taken_from(pid_t owner)
{
    uint32_t *lock = &s->shm.header->lock;

    *lock = (uint32_t)owner;
    lock_rescue_check(s);
    assert_int_equal(apl_lock_holder(lock), owner);
    s->now += SECOND / 2; /* it may be about to leave */
    lock_rescue_check(s);
    assert_int_equal(apl_lock_holder(lock), owner);
    s->now += 2 * SECOND;
    lock_rescue_check(s);
    return apl_lock_holder(lock) == 0;
}

static void a_sleeping_thread_does_not_hold_the_lock(void **state)
{
    (void)state;
    assert_true(is_taken_from(getppid()));
}

static void a_running_thread_may_hold_the_lock(void **state)
{
    (void)state;
    runs = 'R';
    assert_false(is_taken_from(getppid()));
}

static void a_thread_that_took_the_lock_again_keeps_it(void **state)
{
    (void)state;
    moves = 2;
    assert_false(is_taken_from(getppid()));
}

static void a_thread_that_cannot_be_read_keeps_the_lock(void **state)
{
    (void)state;
    readable = 0;
    assert_false(is_taken_from(getppid()));
}

static void a_thread_that_is_gone_does_not_hold_the_lock(void **state)
{
    pid_t dead = fork();

    (void)state;
    if (dead == 0)
        _exit(0);
    assert_int_equal(waitpid(dead, NULL, 0), dead);
    readable = 0;
    assert_true(is_taken_from(dead));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_sleeping_thread_does_not_hold_the_lock),
        TEST(a_running_thread_may_hold_the_lock),
        TEST(a_thread_that_took_the_lock_again_keeps_it),
        TEST(a_thread_that_cannot_be_read_keeps_the_lock),
        TEST(a_thread_that_is_gone_does_not_hold_the_lock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
