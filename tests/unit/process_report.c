/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The words for what the kernel says about a process. */

#include "spawner/report/reports.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/userdb.h"
#include "system/procfs.h"
#include "tests/unit/support/scene.h"

static void says(char state, const char *syscall, const char *words)
{
    char text[PROCESS_REPORT_TEXT_MAX];

    assert_string_equal(process_report_doing(state, syscall, text), words);
}

static void states_and_calls_have_words(void **state)
{
    char call[64];

    (void)state;
    says('R', "running", "runs");
    says('R', "", "runs");
    snprintf(call, sizeof call, "%d 0x1 0x2", SYS_futex);
    says('S', call, "waits for a lock (futex)");
    snprintf(call, sizeof call, "%d 0x1 0x2", SYS_read);
    says('S', call, "sleeps in read");
    says('D', call, "waits for the kernel in read");
    says('T', call, "is stopped");
    says('t', call, "is stopped by a debugger");
    says('S', "99999 0x1", "sleeps in system call 99999");
    says('D', "-1 0x7ffe 0x7fff",
         "waits for the kernel outside of system "
         "calls");
    says('S', "", "sleeps");
    says('S', "running", "sleeps");
    says('Z', "", "is dead");
    says('I', "", "is in state I");
    assert_string_equal(process_report_syscall(SYS_futex), "futex");
    assert_null(process_report_syscall(-1));
}

static void a_stack_is_one_line(void **state)
{
    static const struct {
        const char *from, *to;
    } cases[] = {
        {"[<0>] a+0x1/0x2\n[<0>] b+0x3/0x4 [fuse]\n[<0>] c+0x5/0x6\n",
         "a+0x1/0x2 < b+0x3/0x4 [fuse] < c+0x5/0x6"},
        {"[<0>] a+0x1/0x2\n[<0>] b+0x3", "a+0x1/0x2 < b+0x3"},
        {"[<ffffffff8104c1b2>] a+0x1/0x2\n", "a+0x1/0x2"},
        {"[<0>] a+0x1/0x2\n[<fff", "a+0x1/0x2"},
        {"[<0>] ", ""},
        {"\n\n", ""},
        {"", ""},
    };
    char text[128];
    size_t i;

    (void)state;
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, "%s", cases[i].from);
        process_report_stack(text);
        assert_string_equal(text, cases[i].to);
    }
}

static void a_process_knows_itself(void **state)
{
    procfs_t is, thread;
    char text[8];

    (void)state;
    assert_int_equal(procfs_read(getpid(), &is), 0);
    assert_string_equal(is.name, program_invocation_short_name);
    assert_int_equal(is.state, 'R');
    assert_int_equal(is.ppid, getppid());
    assert_int_equal(is.session, getsid(0));
    assert_true(is.start > 0 && is.start <= procfs_now());
    assert_true(is.memory > 4096);
    assert_int_equal(procfs_thread(getpid(), getpid(), &thread), 0);
    assert_true(thread.start == is.start && thread.cpu >= is.cpu);
    assert_int_equal(procfs_thread(getpid(), 1, &thread), -1);
    assert_int_equal(procfs_text(getpid(), "cmdline", text, sizeof text),
                     (int)sizeof text - 1);
    assert_int_equal(text[sizeof text - 1], 0);
    assert_int_equal(procfs_text(getpid(), "nothing", text, sizeof text), -1);
    assert_string_equal(text, "");
}

/* On a loaded machine a sleep takes longer. The linker wraps it. */
int __wrap_nanosleep(const struct timespec *pause, struct timespec *left);

int __wrap_nanosleep(const struct timespec *pause, struct timespec *left)
{
    (void)left;
    return usleep((useconds_t)(pause->tv_nsec / 1000 * 3));
}

static void see_share(void *ctx, const char *line)
{
    const char *share = strstr(line, "in all and ");

    if (share)
        *(int *)ctx = atoi(share + strlen("in all and "));
}

static void one_thread_has_one_cpu(void **state)
{
    int share = -1;
    process_report_t asked = {"shop[1]",     0,         0,
                              USERDB_NOBODY, see_share, &share};
    procfs_t is;

    (void)state;
    asked.leader = fork();
    if (asked.leader == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setsid();
        for (;;)
            ;
    }
    do
        assert_int_equal(procfs_read(asked.leader, &is), 0);
    while (is.session != asked.leader || is.cpu < 5);
    asked.start = is.start;
    process_report_write(&asked);
    kill(asked.leader, SIGKILL);
    waitpid(asked.leader, NULL, 0);
    assert_in_range(share, 1, 120);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_and_calls_have_words),
        cmocka_unit_test(a_stack_is_one_line),
        cmocka_unit_test(a_process_knows_itself),
        cmocka_unit_test(one_thread_has_one_cpu),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
