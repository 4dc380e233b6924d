/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A pid and a start time identify a process. A zombie counts as gone. */

#include "tests/unit/support/scene.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/lock/alive.h"
#include "shm/view/view.h"

static pid_t child(void)
{
    pid_t pid = fork();

    while (pid == 0)
        pause();
    return pid;
}

static void a_running_process_is_alive(void **state)
{
    apl_identity_t identity;

    (void)state;
    assert_int_equal(apl_alive_identify(getpid(), &identity), 0);
    assert_int_equal(identity.pid, getpid());
    assert_true(apl_alive(&identity));
    assert_false(apl_alive_ending(getpid()));
}

static void another_start_time_is_another_process(void **state)
{
    apl_identity_t identity;

    (void)state;
    assert_int_equal(apl_alive_identify(getpid(), &identity), 0);
    identity.start++;
    assert_false(apl_alive(&identity));
}

static void a_name_may_look_like_the_fields_behind_it(void **state)
{
    apl_identity_t identity, named;

    (void)state;
    assert_int_equal(apl_alive_identify(getpid(), &identity), 0);
    prctl(PR_SET_NAME, "a) Z 1 2 3", 0, 0, 0);
    assert_int_equal(apl_alive_identify(getpid(), &named), 0);
    assert_int_equal(named.start, identity.start);
    assert_false(apl_alive_ending(getpid()));
}

/* Starts another process in a new session. It uses this much memory. */
static pid_t family(volatile char *space, size_t size)
{
    size_t i;
    int ends[2];
    char byte;
    pid_t pid;

    assert_int_equal(pipe(ends), 0);
    pid = fork();
    if (pid == 0) {
        setsid();
        if (fork() == 0) {
            for (i = 0; i < size; i += 1024)
                space[i] = 1;
            if (write(ends[1], "", 1) != 1)
                _exit(1);
        }
        for (;;)
            pause();
    }
    assert_int_equal(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    close(ends[1]);
    return pid;
}

static void memory_is_that_of_the_session(void **state)
{
    static char space[16 << 20];
    apl_memory_use_t of[3] = {{{1 << 30, 0, 7}, 0}};
    pid_t leader = family(space, sizeof space);
    int64_t own;
    int i;

    (void)state;
    assert_int_equal(apl_alive_identify(getpid(), &of[1].identity), 0);
    assert_int_equal(apl_alive_identify(leader, &of[2].identity), 0);
    apl_memory_use_measure(of, 3);
    own = apl_memory_use_of(of, 3, getpid());
    assert_true(own > 0 && own < (int64_t)sizeof space);
    /* The kernel counts on each CPU. What it shows is some pages behind. */
    assert_true(apl_memory_use_of(of, 3, leader) >=
                (int64_t)sizeof space - (1 << 20));
    assert_int_equal(apl_memory_use_of(of, 3, 1 << 30), -1);
    assert_int_equal(apl_memory_use_of(of, 3, 0), -1);
    for (i = 0; i < 3; i++)
        of[i].identity.start++;
    apl_memory_use_measure(of, 3);
    assert_int_equal(apl_memory_use_of(of, 3, leader), -1);
    kill(-leader, SIGKILL);
    waitpid(leader, NULL, 0);
}

static void a_zombie_is_not_alive(void **state)
{
    pid_t pid = child();
    siginfo_t info;
    apl_identity_t identity;

    (void)state;
    assert_int_equal(apl_alive_identify(pid, &identity), 0);
    assert_false(apl_alive_ending(pid));
    kill(pid, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(apl_alive_identify(pid, &identity), -1);
    assert_true(apl_alive_ending(pid));
    waitpid(pid, NULL, 0);
    assert_int_equal(apl_alive_identify(pid, &identity), -1);
    assert_true(apl_alive_ending(pid));
}

static void a_pid_of_zero_or_less_is_not_alive(void **state)
{
    apl_identity_t identity;

    (void)state;
    assert_int_equal(apl_alive_identify(0, &identity), -1);
    assert_int_equal(apl_alive_identify(-1, &identity), -1);
    assert_false(apl_alive_ending(0));
    assert_false(apl_alive_ending(-1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_running_process_is_alive),
        cmocka_unit_test(another_start_time_is_another_process),
        cmocka_unit_test(a_name_may_look_like_the_fields_behind_it),
        cmocka_unit_test(a_zombie_is_not_alive),
        cmocka_unit_test(a_pid_of_zero_or_less_is_not_alive),
        cmocka_unit_test(memory_is_that_of_the_session),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
