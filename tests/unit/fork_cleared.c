/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A process that a template has forked and that was not told to go: nothing
 * that it says is heard, and what is left of it when it survives SIGKILL is the
 * process of a start that has failed. */

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/procfs.h"
#include "spawner/start/start.h"
#include "spawner/process/process.h"
#include "tests/unit/support/scene.h"
#include "tests/unit/support/scratch.h"

static int survives; /* what is in the cgroup cannot be killed */

int __wrap_cgroup_remove(uint64_t id);
void __wrap_start_failure_log(const spawner_t *s, const process_t *p);
void __wrap_start_failure_keep(spawner_t *s, const process_t *p, int step,
                               uint64_t id, const char *text);

int __wrap_cgroup_remove(uint64_t id)
{
    (void)id;
    return survives ? -1 : 0;
}

void __wrap_start_failure_log(const spawner_t *s, const process_t *p)
{
    (void)s;
    (void)p;
}

void __wrap_start_failure_keep(spawner_t *s, const process_t *p, int step,
                               uint64_t id, const char *text)
{
    (void)s;
    (void)p;
    (void)step;
    (void)id;
    (void)text;
}

static int begin(void **state)
{
    spawner_t *s = scratch_begin();

    (void)state;
    s->rt.uid = geteuid();
    s->rt.gid = getegid();
    return loop_open() != 0 || registry_open(s->rt.fd) != 0 ||
           process_files_prepare(&s->rt) != 0;
}

/* Its command is to be executed, as this process was killed instead of told to
 * go. */
static process_t *cleared(pid_t killed)
{
    process_t *p = process_new(state_spawner(), 0x4560001, "shop");
    procfs_t is;

    assert_non_null(p);
    p->forking.state = FORKING_EXECUTE;
    p->forking.killed = killed;
    if (killed != 0 && procfs_read(killed, &is) == 0)
        p->forking.killed_start = is.start;
    return p;
}

static void nothing_is_left(void **state)
{
    process_t *p = cleared(0);

    (void)state;
    survives = 0;
    p->is.says_ready = p->is.stops_itself = 1;
    assert_int_equal(fork_start_clear(state_spawner(), p), 0);
    assert_int_equal(p->is.says_ready | p->is.stops_itself, 0);
    assert_null(p->start.failure);
}

/* It is given a second. */
static void it_survives_sigkill(void **state)
{
    spawner_t *s = state_spawner();
    pid_t pid = fork();
    process_t *p;
    int status;

    (void)state;
    if (pid == 0)
        _exit(pause());
    p = cleared(pid);
    survives = 1;
    assert_int_equal(fork_start_clear(s, p), -1);
    s->now += SECOND - 1;
    assert_int_equal(fork_start_clear(s, p), -1);
    assert_null(p->start.failure);
    s->now += 1;
    assert_int_equal(fork_start_clear(s, p), -1);
    assert_non_null(strstr(p->start.failure, "survives SIGKILL"));
    assert_int_equal(p->forking.state, FORKING_NOT);
    assert_int_equal(p->phase, PHASE_KILLED);
    assert_int_equal(p->is.pid, pid);
    assert_false(p->gone);
    assert_ptr_equal(process_of_child(s, pid), p);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* The start fails after a second. No child of the spawner is its process. */
static void fails_without_a_child(process_t *p)
{
    spawner_t *s = state_spawner();

    survives = 1;
    fork_start_clear(s, p);
    s->now += SECOND;
    fork_start_clear(s, p);
    assert_non_null(p->start.failure);
    assert_int_equal(p->is.pid, 0);
    assert_true(p->gone);
}

/* It is dead and reaped, so its pid may be that of another one. */
static void its_child_survives_sigkill(void **state)
{
    pid_t pid = fork();
    process_t *p;

    (void)state;
    if (pid == 0)
        _exit(0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    p = cleared(pid);
    fails_without_a_child(p);
}

/* Another process of the spawner has its pid by now. That one is no concern of
 * this start, and must not be killed. */
static void its_pid_is_used_again(void **state)
{
    pid_t other = fork();
    process_t *p;
    int status;

    (void)state;
    if (other == 0)
        _exit(pause());
    p = cleared(other);
    p->forking.killed_start--;
    fails_without_a_child(p);
    assert_int_equal(waitpid(other, &status, WNOHANG), 0);
    kill(other, SIGKILL);
    assert_int_equal(waitpid(other, &status, 0), other);
}

static void say(const process_t *p, const char *text)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    process_files_path(&state_spawner()->rt, CONTRACT_NOTIFY, p->is.id,
                       to.sun_path);
    assert_int_equal(
        sendto(fd, text, strlen(text), 0, (struct sockaddr *)&to, sizeof to),
        strlen(text));
    close(fd);
}

/* What is on record has a pid. */
static void nothing_is_heard_before_it_goes(void **state)
{
    process_t *p = cleared(0);
    registry_record_t is;
    int goes;

    (void)state;
    assert_int_equal(
        loop_add(&p->notify,
                 process_files_notify(&state_spawner()->rt, p->is.id), 0,
                 sd_notify_read, p),
        0);
    p->forking.state = FORKING_ORDERED;
    for (goes = 0; goes < 2; goes++) {
        say(p, "READY=1\nSTOPPING=1");
        sd_notify_read(p, 0);
        assert_int_equal(p->is.says_ready, goes);
        assert_int_equal(p->is.stops_itself, goes);
        assert_int_equal(registry_read(p->record, &is) == REGISTRY_RECORD,
                         goes);
        p->forking.state = FORKING_NOT;
        p->is.pid = getpid();
        assert_int_equal(process_record(p, REGISTRY_BOOTING), 0);
    }
    loop_drop(&p->notify);
    process_files_remove(&state_spawner()->rt, p->is.id);
}

static void without_a_pid_there_is_no_record(void **state)
{
    process_t *p = cleared(0);
    registry_record_t is;

    (void)state;
    assert_int_equal(process_record(p, REGISTRY_ENDING), 0);
    assert_int_not_equal(registry_read(p->record, &is), REGISTRY_RECORD);
    assert_int_not_equal(registry_read(p->record, &is), REGISTRY_BROKEN);
}

#define TEST(name) cmocka_unit_test_teardown(name, scratch_forget)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_left),
        TEST(it_survives_sigkill),
        TEST(its_child_survives_sigkill),
        TEST(its_pid_is_used_again),
        TEST(nothing_is_heard_before_it_goes),
        TEST(without_a_pid_there_is_no_record),
    };

    alarm(300);
    return cmocka_run_group_tests(tests, begin, scratch_end);
}
